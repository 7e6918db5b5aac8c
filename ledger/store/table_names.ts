import type { Statement } from "./driver/driver.ts";

/** Selects the names of the tables that are not those of the database itself. */
export const selectTables: Statement = {
  sql: "SELECT name FROM sqlite_schema WHERE type = 'table' " +
    "AND name NOT GLOB 'sqlite_*' AND name NOT GLOB '_litestream_*' " +
    "AND name NOT GLOB 'libsql_*'",
  args: [],
};

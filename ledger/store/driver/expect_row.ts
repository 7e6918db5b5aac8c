import type { SqlValue, Statement } from "./driver.ts";

/** What a row held when it was read, by column. No value may be null. */
export type RowRead = Readonly<Record<string, Exclude<SqlValue, null>>>;

/**
 * Makes a statement that begins a write batch. If the row is not as it was
 * read, the batch writes nothing and fails with `conflict`.
 *
 * @param table A table that has a column which may not be null.
 * @param row What was read.
 */
export function expectRow(table: string, row: RowRead): Statement {
  return expect(table, row, "NOT EXISTS");
}

/**
 * Makes a statement that begins a write batch. If such a row exists now, the
 * batch writes nothing and fails with `conflict`.
 *
 * @param table A table that has a column which may not be null.
 * @param row The row that did not exist when it was read.
 */
export function expectNoRow(table: string, row: RowRead): Statement {
  return expect(table, row, "EXISTS");
}

/** Inserts a row of nulls, which the table refuses, if the row has changed. */
function expect(
  table: string,
  row: RowRead,
  changed: "EXISTS" | "NOT EXISTS",
): Statement {
  const columns = Object.keys(row);
  const same = columns.map((column, at) => `${column} = ?${at + 1}`);
  return {
    sql: `INSERT INTO ${table} (${columns[0]}) SELECT NULL
      WHERE ${changed} (SELECT 1 FROM ${table} WHERE ${same.join(" AND ")})`,
    args: Object.values(row),
    expects: true,
  };
}

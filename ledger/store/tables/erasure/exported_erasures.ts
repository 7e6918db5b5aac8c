import type { Statement } from "../../driver/driver.ts";

/** Columns of the tables, as an export has them. */
const exported = {
  erasure_keys: { columns: ["key"], blobs: ["key"] },
  erased_names: {
    columns: ["hash", "kind", "erased_at", "returned_at"],
    blobs: ["hash"],
  },
  erased_values: { columns: ["hash", "kind", "length"], blobs: ["hash"] },
  erased_orders: {
    columns: ["order_id", "user_id", "click_id", "erased_at"],
    blobs: [],
  },
  erased_people: {
    columns: ["pseudonym", "erased_at", "events", "orders"],
    blobs: [],
  },
  returned_orders: { columns: ["order_id", "known_at"], blobs: [] },
} as const satisfies Record<
  string,
  { readonly columns: readonly string[]; readonly blobs: readonly string[] }
>;

/** A table about erasures that exports have. */
export type ErasureTable = keyof typeof exported;

/** All of them. */
export const ERASURE_TABLES: readonly ErasureTable[] = Object.keys(
  exported,
) as ErasureTable[];

/** Selects all rows of a table, as they are exported. */
export function selectErasureTable(table: ErasureTable): Statement {
  const { columns: [first, ...others] } = exported[table];
  const order = table === "erasure_keys" ? "id" : first;
  return {
    sql: `SELECT ${[first, ...others].join(", ")} FROM ${table}
      ORDER BY ${order}`,
    args: [],
  };
}

/** Stores a row that was exported, unless it is there. */
export function insertErasureRow(
  table: ErasureTable,
  row: readonly (string | number | null)[],
): Statement {
  const { columns, blobs } = exported[table];
  const values = columns.map((column) =>
    (blobs as readonly string[]).includes(column) ? "unhex(?)" : "?"
  );
  return {
    sql: `INSERT INTO ${table} (${columns.join(", ")})
      VALUES (${values.join(", ")}) ON CONFLICT DO NOTHING`,
    args: columns.map((_, at) => row[at] ?? null),
  };
}

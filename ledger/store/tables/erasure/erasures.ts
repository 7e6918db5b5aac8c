import type { Statement } from "../../driver/driver.ts";

/**
 * Who was erased, and what must not come back.
 *
 * - `erasure_keys`: secrets that names are hidden with; the first is our own,
 *   others came with imports.
 * - `erased_names`: hidden user and click ids. `returned_at` says when such a
 *   user became a customer again.
 * - `erased_orders`: what stands in an order for whom it named. Order ids stay.
 * - `erased_people`: one row for each erasure.
 * - `returned_orders`: orders that erased users made later.
 *
 * `projections.erasures` counts erasures, so that no process writes a state
 * that it read before one.
 */
export const erasuresSchema: readonly string[] = [
  `CREATE TABLE erasure_keys (
    id INTEGER PRIMARY KEY,
    key BLOB NOT NULL UNIQUE
  ) STRICT`,
  `CREATE TABLE erased_names (
    hash BLOB PRIMARY KEY,
    kind TEXT NOT NULL,
    erased_at TEXT NOT NULL,
    returned_at TEXT
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE erased_orders (
    order_id TEXT PRIMARY KEY,
    user_id TEXT,
    click_id TEXT,
    erased_at TEXT NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE erased_people (
    pseudonym TEXT PRIMARY KEY,
    erased_at TEXT NOT NULL,
    events INTEGER NOT NULL,
    orders INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE returned_orders (
    order_id TEXT PRIMARY KEY,
    known_at TEXT NOT NULL
  ) STRICT, WITHOUT ROWID`,
];

/** Stores that somebody was erased. */
export function insertErasedPerson(
  person: {
    readonly pseudonym: string;
    readonly erasedAt: string;
    readonly events: number;
    readonly orders: number;
  },
): Statement {
  return {
    sql: `INSERT INTO erased_people (pseudonym, erased_at, events, orders)
      VALUES (?, ?, ?, ?)`,
    args: [person.pseudonym, person.erasedAt, person.events, person.orders],
  };
}

/** Selects all erasures, the oldest first. */
export const selectErasedPeople: Statement = {
  sql: `SELECT pseudonym, erased_at, events, orders FROM erased_people
    ORDER BY erased_at, pseudonym`,
  args: [],
};

/**
 * Counts an erasure. States that are being built beside the live ones begin
 * anew, and what was read before it can no longer be written.
 */
export const countErasure: readonly Statement[] = [
  { sql: "UPDATE projections SET erasures = erasures + 1", args: [] },
  { sql: "DELETE FROM projections WHERE name <> 'live'", args: [] },
  { sql: "UPDATE observation_version SET version = version + 1", args: [] },
];

/** What came with an import has to be looked for from now on. */
export const noteImportedErasures: readonly Statement[] = [
  { sql: "UPDATE projections SET erasures = erasures + 1", args: [] },
];

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

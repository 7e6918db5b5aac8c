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

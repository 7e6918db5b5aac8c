import type { ResultSet, Statement } from "../driver/driver.ts";
import type { ProjectionSlot } from "./checkpoints.ts";

/** Ranges of imported positions: no subscription gets their transitions. */
export const importedSchema: readonly string[] = [
  `CREATE TABLE imported (
    first_position INTEGER PRIMARY KEY,
    last_position INTEGER NOT NULL
  ) STRICT`,
  `CREATE INDEX imported_by_end ON imported(last_position)`,
];

/** The first and the last position of a range. */
export type PositionRange = readonly [first: number, last: number];

/** Selects all ranges. */
export const selectImported: Statement = {
  sql: "SELECT first_position, last_position FROM imported",
  args: [],
};

/** Selects the ranges that reach beyond the checkpoint of a set of states. */
export function selectImportedAfter(slot: ProjectionSlot): Statement {
  return {
    sql: `SELECT first_position, last_position FROM imported
      WHERE last_position > (SELECT position FROM projections WHERE name = ?1)`,
    args: [slot],
  };
}

/** Reads the ranges of an answer. */
export function importedRanges(result: ResultSet | undefined): PositionRange[] {
  return result?.rows.map(([first, last]) =>
    [first as number, last as number] as const
  ) ?? [];
}

/** Stores a range, or a new end of it. */
export function upsertImported([first, last]: PositionRange): Statement {
  return {
    sql: `INSERT INTO imported (first_position, last_position)
      VALUES (?, ?) ON CONFLICT (first_position)
      DO UPDATE SET last_position = excluded.last_position`,
    args: [first, last],
  };
}

/** A range that ends before it begins is open until the events are in. */
export const openImportedRange: Statement = {
  sql: `INSERT INTO imported (first_position, last_position)
    SELECT coalesce(max(position), 0) + 1, coalesce(max(position), 0)
    FROM events`,
  args: [],
};

/** Ends the range, or drops it when nothing came, and joins neighbours. */
export const closeImportedRange: readonly Statement[] = [
  `UPDATE imported SET last_position =
      (SELECT coalesce(max(position), 0) FROM events)
    WHERE first_position > last_position`,
  "DELETE FROM imported WHERE first_position > last_position",
  `UPDATE imported AS a SET last_position =
      (SELECT max(last_position) FROM imported)
    WHERE a.last_position + 1 = (SELECT max(first_position) FROM imported)`,
  `DELETE FROM imported AS b WHERE EXISTS (SELECT 1 FROM imported AS a
    WHERE a.first_position < b.first_position
      AND a.last_position >= b.last_position)`,
].map((sql) => ({ sql, args: [] }));

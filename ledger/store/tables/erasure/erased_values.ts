import type { SqlValue, Statement } from "../../driver/driver.ts";
import { EVENTS } from "../events/event_rows.ts";

/**
 * What stays of erased people elsewhere, recognised by values.
 *
 * - `erased_values`: ids of erased people, hidden. `own` are theirs alone: user
 *   ids, card ids, and click ids that the partner recorded. `chosen` are click
 *   ids that a customer may have chosen. `length` is that of the id: no other
 *   text needs to be hidden to be compared.
 * - `erasure_comparison`: how far the events up to `until` were compared with
 *   them; no row when all were.
 * - `erasure_findings`: events that hold such a value and were not blanked.
 */
export const erasedValuesSchema: readonly string[] = [
  `CREATE TABLE erased_values (
    hash BLOB PRIMARY KEY,
    kind TEXT NOT NULL,
    length INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE erasure_comparison (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    position INTEGER NOT NULL,
    until INTEGER NOT NULL
  ) STRICT`,
  `CREATE TABLE erasure_findings (
    position INTEGER PRIMARY KEY,
    why TEXT NOT NULL,
    found_at TEXT NOT NULL,
    settled TEXT,
    settled_at TEXT
  ) STRICT`,
];

/** What kind of value it is; see {@linkcode erasedValuesSchema}. */
export type ValueKind = "own" | "chosen";

/** A hidden value. */
export interface HiddenValue {
  /** Its keyed hash. */
  readonly hash: Uint8Array;
  /** What kind of value it is. */
  readonly kind: ValueKind;
  /** Its length, in UTF-16 units. */
  readonly length: number;
}

/** Stores hidden values; one that is somebody's own stays so. */
export function insertValues(values: readonly HiddenValue[]): Statement[] {
  return values.map(({ hash, kind, length }) => ({
    sql: `INSERT INTO erased_values (hash, kind, length) VALUES (?, ?, ?)
      ON CONFLICT (hash) DO UPDATE SET kind = 'own'
      WHERE excluded.kind = 'own'`,
    args: [hash, kind, length],
  }));
}

/** Selects the lengths that values have. */
export const selectValueLengths: Statement = {
  sql: "SELECT DISTINCT length FROM erased_values",
  args: [],
};

/** Selects which of some hashes, in hex, are hidden values: hash and kind. */
export function selectValues(hashes: readonly string[]): Statement {
  return {
    sql: `SELECT lower(hex(hash)), kind FROM erased_values
      WHERE hash IN (SELECT unhex(value) FROM json_each(?))`,
    args: [JSON.stringify(hashes)],
  };
}

/** Says that the events up to a position have to be compared anew. */
export function beginComparison(until: number): Statement {
  return {
    sql: `INSERT INTO erasure_comparison (id, position, until) VALUES (1, 0, ?)
      ON CONFLICT (id) DO UPDATE SET
        position = 0, until = max(until, excluded.until)`,
    args: [until],
  };
}

/** Selects how far the comparison is: position and until. */
export const selectComparison: Statement = {
  sql: "SELECT position, until FROM erasure_comparison",
  args: [],
};

/** Moves the comparison on, or ends it. */
export function moveComparison(position: number, until: number): Statement {
  return position >= until
    ? { sql: "DELETE FROM erasure_comparison WHERE until = ?", args: [until] }
    : {
      sql: "UPDATE erasure_comparison SET position = ?",
      args: [position],
    };
}

/** Selects events with a body, by position. */
export function selectCompared(
  from: number,
  until: number,
  limit: number,
): Statement {
  return {
    sql: `SELECT ${EVENTS.list("e")}, NULL, NULL FROM events AS e
      WHERE e.position > ?1 AND e.position <= ?2 AND e.body IS NOT NULL
      ORDER BY e.position LIMIT ?3`,
    args: [from, until, limit],
  };
}

/** Selects which of some orders or users the service has shown: their ids. */
export function selectShown(
  entity: "order" | "user",
  ids: readonly string[],
): Statement {
  return {
    sql: `SELECT entity_id FROM observations WHERE entity = ?1 AND found = 1
      AND entity_id IN (SELECT value FROM json_each(?2))`,
    args: [entity, JSON.stringify(ids)],
  };
}

/** Why an event is listed and was not blanked. */
export type FindingReason = "other_person" | "chosen_click_id" | "not_json";

/** More events with a chosen click id than this are not listed. */
const MOST_CHOSEN = 1000;

/** Lists events that hold an erased value, each once. */
export function insertFindings(
  findings: readonly {
    readonly position: number;
    readonly why: FindingReason;
  }[],
  foundAt: string,
): Statement {
  return {
    sql: `INSERT INTO erasure_findings (position, why, found_at)
      SELECT value ->> 0, value ->> 1, ?2 FROM json_each(?1)
      WHERE value ->> 1 <> 'chosen_click_id' OR ${MOST_CHOSEN} > (
        SELECT count(*) FROM erasure_findings
        WHERE why = 'chosen_click_id' AND settled IS NULL)
      ON CONFLICT DO NOTHING`,
    args: [
      JSON.stringify(findings.map(({ position, why }) => [position, why])),
      foundAt,
    ],
  };
}

/** Selects findings: position, why, when, how settled, event id, and kind. */
export const selectFindings: Statement = {
  sql: `SELECT f.position, f.why, f.found_at, f.settled, e.event_id, e.kind
    FROM erasure_findings AS f JOIN events AS e ON e.position = f.position
    ORDER BY f.position`,
  args: [],
};

/** Says what a person decided about findings that are not settled. */
export function settleFindings(
  positions: readonly number[],
  settled: "blanked" | "kept",
  at: string,
): Statement {
  const args: SqlValue[] = [JSON.stringify(positions), settled, at];
  return {
    sql: `UPDATE erasure_findings SET settled = ?2, settled_at = ?3
      WHERE settled IS NULL
        AND position IN (SELECT value FROM json_each(?1))`,
    args,
  };
}

import { Columns, plain } from "./columns.ts";
import type { ResultSet, Statement } from "../driver/driver.ts";
import { expectRow } from "../driver/expect_row.ts";

/**
 * How far each set of states is: one row `live`, and a row `next` or `trial`
 * while the events are folded again beside it. Every batch that writes states
 * expects its row to be as it was read, and moves its position.
 */
export const checkpointsSchema: readonly string[] = [
  `CREATE TABLE projections (
    name TEXT PRIMARY KEY,
    generation INTEGER NOT NULL,
    fold_version INTEGER NOT NULL,
    position INTEGER NOT NULL,
    erasures INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
];

/** SQL for the number of the states that readers see. */
export const liveGeneration =
  "(SELECT generation FROM projections WHERE name = 'live')";

/**
 * Which set of states: the one readers see, the one built beside it to take its
 * place, or one built only to be compared.
 */
export type ProjectionSlot = "live" | "next" | "trial";

/** How far a set of states is. */
export interface Checkpoint {
  /** Number of the set; each refold has its own. */
  readonly generation: number;
  /** Version of the fold that makes it. */
  readonly foldVersion: number;
  /** Position of the last event folded. */
  readonly position: number;
  /** Erasures so far; see `erasures.ts`. */
  readonly erasures: number;
}

const CHECKPOINT = new Columns<Checkpoint>({
  generation: ["generation", plain()],
  foldVersion: ["fold_version", plain()],
  position: ["position", plain()],
  erasures: ["erasures", plain()],
});

/** All checkpoints as read; null where there is none. */
export type Checkpoints = Readonly<Record<ProjectionSlot, Checkpoint | null>>;

/** Whether two checkpoints are the same in all parts. */
export function sameCheckpoint(
  a: Checkpoint | null,
  b: Checkpoint | null,
): boolean {
  return a?.generation === b?.generation && a?.position === b?.position &&
    a?.foldVersion === b?.foldVersion && a?.erasures === b?.erasures;
}

/** The statement that reads all checkpoints. */
export const selectCheckpoints: Statement = {
  sql: `SELECT name, ${CHECKPOINT.list()} FROM projections`,
  args: [],
};

/**
 * Reads the answer of {@linkcode selectCheckpoints}.
 *
 * @param result The answer.
 */
export function checkpointsOf(result: ResultSet | undefined): Checkpoints {
  const read = (slot: ProjectionSlot): Checkpoint | null => {
    const row = result?.rows.find(([name]) => name === slot);
    return row === undefined ? null : CHECKPOINT.read(row, 1);
  };
  return { live: read("live"), next: read("next"), trial: read("trial") };
}

/**
 * The statement that begins a set of states from nothing, under a number that
 * no row has, unless the slot has one already.
 *
 * @param slot Which one.
 * @param foldVersion Version of the fold that will make it.
 */
export function createCheckpoint(
  slot: ProjectionSlot,
  foldVersion: number,
): Statement {
  const tables = [
    "projections",
    "orders",
    "users",
    "order_links",
    "expectations",
  ];
  const last = tables.map((table) =>
    `coalesce((SELECT max(generation) FROM ${table}), 0)`
  ).join(", ");
  return {
    sql: `INSERT INTO projections
        (name, ${CHECKPOINT.list()})
      SELECT ?, 1 + max(${last}), ?, 0, (SELECT count(*) FROM erasure_keys)
      WHERE true ON CONFLICT DO NOTHING`,
    args: [slot, foldVersion],
  };
}

/**
 * The statement that begins each batch of a projection: the batch fails with
 * `conflict` unless the checkpoint is as it was read.
 *
 * @param slot Which one.
 * @param read What it was when the states were read.
 */
export function expectCheckpoint(
  slot: ProjectionSlot,
  read: Checkpoint,
): Statement {
  return expectRow("projections", {
    name: slot,
    generation: read.generation,
    fold_version: read.foldVersion,
    position: read.position,
    erasures: read.erasures,
  });
}

/**
 * The statement that moves a checkpoint.
 *
 * @param slot Which one.
 * @param position Where it moves to.
 */
export function moveCheckpoint(
  slot: ProjectionSlot,
  position: number,
): Statement {
  return {
    sql: "UPDATE projections SET position = ? WHERE name = ?",
    args: [position, slot],
  };
}

/**
 * The batch fails with `conflict` when there is an event after a position.
 *
 * @param position The last event.
 */
export function expectLast(position: number): Statement {
  return {
    sql: `INSERT INTO projections (name)
      SELECT NULL WHERE EXISTS (SELECT 1 FROM events WHERE position > ?)`,
    args: [position],
    expects: true,
  };
}

/** Moves the checkpoint of the live states to the last event. */
export const moveToLast: Statement = {
  sql: `UPDATE projections SET position = max(position,
      (SELECT coalesce(max(position), 0) FROM events)) WHERE name = 'live'`,
  args: [],
};

/**
 * Makes the states of another generation those that readers see.
 *
 * @param next Checkpoint of those states.
 */
export function makeLive(next: Checkpoint): Statement {
  return {
    sql: `UPDATE projections SET generation = ?, fold_version = ?
      WHERE name = 'live'`,
    args: [next.generation, next.foldVersion],
  };
}

/**
 * Drops a set of states that is not the live one.
 *
 * @param slot Which one.
 * @param checkpoint As read; another one begun since stays.
 */
export function deleteCheckpoint(
  slot: "next" | "trial",
  { generation }: Checkpoint,
): Statement {
  return {
    sql: "DELETE FROM projections WHERE name = ? AND generation = ?",
    args: [slot, generation],
  };
}

import type { ResultSet, Statement } from "../store/driver.ts";

/**
 * Which set of states: the one readers see, the one built beside it to take its
 * place, or one built only to be compared.
 */
export type Lane = "live" | "next" | "trial";

/** How far a set of states is. */
export interface Checkpoint {
  /** Number of the set; each refold has its own. */
  readonly generation: number;
  /** Version of the fold that makes it. */
  readonly foldVersion: number;
  /** Position of the last event folded. */
  readonly position: number;
}

/** All checkpoints as read; null where there is none. */
export type Checkpoints = Readonly<Record<Lane, Checkpoint | null>>;

/** Whether two checkpoints are the same in all parts. */
export function sameCheckpoint(
  a: Checkpoint | null,
  b: Checkpoint | null,
): boolean {
  return a?.generation === b?.generation && a?.position === b?.position &&
    a?.foldVersion === b?.foldVersion;
}

/** The statement that reads all checkpoints. */
export const selectCheckpoints: Statement = {
  sql: "SELECT name, generation, fold_version, position FROM projections",
  args: [],
};

/**
 * Reads the answer of {@linkcode selectCheckpoints}.
 *
 * @param result The answer.
 */
export function checkpointsOf(result: ResultSet | undefined): Checkpoints {
  const read = (lane: Lane): Checkpoint | null => {
    const row = result?.rows.find(([name]) => name === lane);
    return row === undefined ? null : {
      generation: row[1] as number,
      foldVersion: row[2] as number,
      position: row[3] as number,
    };
  };
  return { live: read("live"), next: read("next"), trial: read("trial") };
}

/**
 * The statement that begins a set of states from nothing, under a number that
 * no row has, unless the lane has one already.
 *
 * @param lane Which one.
 * @param foldVersion Version of the fold that will make it.
 */
export function createCheckpoint(lane: Lane, foldVersion: number): Statement {
  const tables = [
    "projections",
    "orders",
    "users",
    "order_links",
    "session_links",
  ];
  const last = tables.map((table) =>
    `coalesce((SELECT max(generation) FROM ${table}), 0)`
  ).join(", ");
  return {
    sql: `INSERT INTO projections (name, generation, fold_version, position)
      SELECT ?, 1 + max(${last}), ?, 0 WHERE true ON CONFLICT DO NOTHING`,
    args: [lane, foldVersion],
  };
}

/**
 * The guard that begins each batch of a projection: it moves the checkpoint,
 * and undoes the batch by putting NULL where none may be unless the checkpoint
 * is the expected one, in all three of its parts.
 *
 * @param lane Which one.
 * @param expected What it was when the states were read.
 * @param position Where it moves to.
 */
export function moveCheckpoint(
  lane: Lane,
  expected: Checkpoint,
  position: number,
): Statement {
  return {
    sql: `INSERT INTO projections (name, generation, fold_version, position)
      VALUES (?1, ?2, ?3, (SELECT ?5 FROM projections WHERE name = ?1
        AND generation = ?2 AND fold_version = ?3 AND position = ?4))
      ON CONFLICT (name) DO UPDATE SET position = excluded.position`,
    args: [
      lane,
      expected.generation,
      expected.foldVersion,
      expected.position,
      position,
    ],
  };
}

import type { Entity } from "../../../machines/transition.ts";
import type { Driver, Statement } from "../../driver/driver.ts";
import { placesOfIds } from "./request_places.ts";
import { QUEUES } from "./request_queues.ts";

/** Progress of each sweep, as JSON, so that a restart goes on. */
export const sweepsSchema: readonly string[] = [
  `CREATE TABLE sweeps (
    name TEXT PRIMARY KEY,
    state TEXT NOT NULL,
    updated_at TEXT NOT NULL
  ) STRICT, WITHOUT ROWID`,
];

/**
 * Reads the stored progress of sweeps.
 *
 * @param name Name of the progress.
 * @returns The state as it was stored, or null when there is none.
 *
 * @example Go on after a restart
 * ```ts ignore
 * const progress = await readSweep<DeepProgress>(driver, "deep");
 * ```
 */
export async function readSweep<State>(
  driver: Driver,
  name: string,
): Promise<State | null> {
  const [found] = await driver.batch([{
    sql: "SELECT state FROM sweeps WHERE name = ?",
    args: [name],
  }], "read");
  const text = found?.rows[0]?.[0];
  return typeof text === "string" ? JSON.parse(text) as State : null;
}

/**
 * The statement that stores progress, to go into the batch that makes it.
 *
 * @param name Name of the progress.
 * @param state The state: plain JSON.
 * @param nowMs The time, in milliseconds since the epoch.
 */
export function writeSweep(
  name: string,
  state: unknown,
  nowMs: number,
): Statement {
  return {
    sql: `INSERT INTO sweeps (name, state, updated_at) VALUES (?, ?, ?)
      ON CONFLICT (name) DO UPDATE SET
        state = excluded.state, updated_at = excluded.updated_at`,
    args: [name, JSON.stringify(state), new Date(nowMs).toISOString()],
  };
}

/**
 * Selects when a sweep last asked for an order or user and when one asks again:
 * one row of `asked_at`, whether it was found, then `due_at` and `final_at` of
 * the open orders, and `due_at` of those that webhooks named, in milliseconds.
 */
export function selectFreshness(entity: Entity, id: string): Statement {
  return {
    sql: `SELECT s.asked_at, s.found, q.due_at, q.final_at, c.due_at
      FROM (SELECT 1) AS one
      LEFT JOIN observations AS s ON s.entity = ?2 AND s.entity_id = ?1 ->> 0
      LEFT JOIN requests AS q ON q.seq = (${
      placesOfIds(entity, `queue = ${QUEUES.open}`)
    } LIMIT 1)
      LEFT JOIN requests AS c ON c.seq = (${
      placesOfIds(entity, `queue = ${QUEUES.named}`)
    } LIMIT 1)`,
    args: [JSON.stringify([id]), entity],
  };
}

/**
 * Ids that are asked for alone: the service refuses a request that holds them, they
 * match the orders of others too, or it answers with a row without identifier.
 */
import type { Entity } from "../machines/transition.ts";
import type { ResultSet, Statement } from "../store/driver/driver.ts";
import { listed } from "../store/database.ts";

/** An id that is requested alone, and why. */
export interface IsolatedId {
  /** Whether it is an order or a user. */
  readonly entity: Entity;
  /** The id that the service refuses. */
  readonly entityId: string;
  /**
   * - `refused`: the service fails each request that holds it.
   * - `crowded`: it is the click id or external id of many orders as well.
   * - `unnamed`: the service answers with a row without identifier.
   */
  readonly kind: "refused" | "crowded" | "unnamed";
  /** What the service said, in one sentence. */
  readonly why: string;
  /** Since when, UTC ISO 8601. */
  readonly since: string;
  /** Refusals in a row. */
  readonly attempts: number;
  /** When it is asked for again, UTC ISO 8601. */
  readonly nextAttemptAt: string;
}

/** Longest reason that is kept. */
const LONGEST_WHY = 300;

const COLUMNS = "entity, id, kind, why, since, attempts, again_at";

/** Forgets what was odd about ids. */
export function forgetIsolated(
  entity: Entity,
  ids: readonly string[],
): Statement {
  return {
    sql: `DELETE FROM set_aside
      WHERE entity = ? AND id IN (SELECT value FROM json_each(?))`,
    args: [entity, listed(ids)],
  };
}

/** Selects how many ids are refused, and the oldest of them. */
export function selectRefused(limit: number): Statement[] {
  return [{
    sql: "SELECT count(*) FROM set_aside WHERE kind = 'refused'",
    args: [],
  }, {
    sql: `SELECT ${COLUMNS} FROM set_aside
      WHERE kind = 'refused' ORDER BY since LIMIT ?`,
    args: [limit],
  }];
}

/** Selects what is odd about one id. */
export function selectIsolated(entity: Entity, entityId: string): Statement {
  return {
    sql: `SELECT ${COLUMNS} FROM set_aside WHERE entity = ? AND id = ?`,
    args: [entity, entityId],
  };
}

/** Reads what {@linkcode selectRefused} or {@linkcode selectIsolated} found. */
export function isolatedIdsOf(found: ResultSet | undefined): IsolatedId[] {
  return (found?.rows ?? []).map((row) => ({
    entity: row[0] as Entity,
    entityId: String(row[1]),
    kind: row[2] as IsolatedId["kind"],
    why: String(row[3]),
    since: String(row[4]),
    attempts: Number(row[5]),
    nextAttemptAt: new Date(Number(row[6])).toISOString(),
  }));
}

/** Remembers what is odd about an id; `since` stays while it is the same. */
export function upsertIsolated(
  { entity, entityId, kind, why, since, attempts, nextAttemptAt }: IsolatedId,
): Statement {
  const text = why.toWellFormed().replaceAll("\0", "").slice(0, LONGEST_WHY);
  return {
    sql: `INSERT INTO set_aside (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (entity, id) DO UPDATE SET kind = excluded.kind,
        why = excluded.why,
        since = CASE WHEN kind = excluded.kind THEN since ELSE excluded.since END,
        attempts = excluded.attempts, again_at = excluded.again_at`,
    args: [
      ...[entity, entityId, kind, text, since, attempts],
      Date.parse(nextAttemptAt),
    ],
  };
}

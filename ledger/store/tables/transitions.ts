import type { Entity } from "../../entity.ts";
import type { Driver, ResultSet, Statement } from "../driver/driver.ts";
import { liveGeneration } from "./checkpoints.ts";
import { pageSize } from "../../queries/query_values.ts";
import {
  type NewTransition,
  type Transition,
  transitionKey,
} from "../../projection/transition.ts";

/**
 * The first time each entity entered each status with each trust. All
 * generations share it, so that a refold repeats no transition.
 */
export const transitionsSchema: readonly string[] = [
  `CREATE TABLE transitions (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    entity TEXT NOT NULL,
    entity_id TEXT NOT NULL,
    trust TEXT NOT NULL,
    status TEXT NOT NULL,
    position INTEGER NOT NULL,
    recorded_at TEXT NOT NULL,
    live INTEGER NOT NULL,
    UNIQUE (entity, entity_id, trust, status)
  ) STRICT`,
];

/** Which transitions to read. */
export interface TransitionQuery {
  /** Only those of orders, or of users. */
  readonly entity?: Entity;
  /** Only those of one order or user. */
  readonly id?: string;
  /** Only those after this `seq`. @default 0 */
  readonly after?: number;
  /** At most this many, 1 to 1000. @default 100 */
  readonly limit?: number;
}

/** Columns in the order that {@linkcode transitionOf} reads. */
export const transitionColumns: string =
  "seq, entity, entity_id, trust, status, position, recorded_at, live";

/**
 * Reads a row of `SELECT ${transitionColumns}`.
 *
 * @param row The row.
 */
export function transitionOf(row: ResultSet["rows"][number]): Transition {
  const named = {
    entity: row[1] as Entity,
    id: row[2] as string,
    trust: row[3] as string,
    status: row[4] as string,
  };
  return {
    key: transitionKey(named),
    ...named,
    position: row[5] as number,
    recordedAt: row[6] as string,
    seq: row[0] as number,
    live: row[7] === 1,
  };
}

/**
 * The statement that reads transitions in order.
 *
 * @param query Which ones.
 */
export function selectTransitions(query: TransitionQuery): Statement {
  const conditions = ["seq > ?"];
  const args: (string | number)[] = [query.after ?? 0];
  if (query.entity !== undefined) {
    conditions.push("entity = ?");
    args.push(query.entity);
  }
  if (query.id !== undefined) {
    // Without the entity the index by entity and id could not be used.
    if (query.entity === undefined) {
      conditions.push("entity IN ('order', 'user')");
    }
    conditions.push("entity_id = ?");
    args.push(query.id);
  }
  return {
    sql: `SELECT ${transitionColumns} FROM transitions
      WHERE ${conditions.join(" AND ")} ORDER BY seq LIMIT ?`,
    args: [...args, pageSize(query.limit)],
  };
}

/**
 * Reads transitions in the order they were logged.
 *
 * @param query Which ones.
 */
export async function readTransitions(
  driver: Driver,
  query: TransitionQuery = {},
): Promise<Transition[]> {
  const [rows] = await driver.batch([selectTransitions(query)], "read");
  return rows?.rows.map(transitionOf) ?? [];
}

/** Logs transitions in their order, each the first time only. */
export function insertTransitions(
  transitions: readonly NewTransition[],
): Statement {
  const rows = transitions.map((transition) => [
    transition.entity,
    transition.id,
    transition.trust,
    transition.status,
    transition.position,
    transition.recordedAt,
    transition.live ? 1 : 0,
  ]);
  return {
    sql: `INSERT INTO transitions
        (entity, entity_id, trust, status, position, recorded_at, live)
      SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3,
        value ->> 4, value ->> 5, value ->> 6
      FROM json_each(?) WHERE true ORDER BY key
      ON CONFLICT DO NOTHING`,
    args: [JSON.stringify(rows)],
  };
}

/**
 * Selects live states of which there is no transition: rows of id, trust and
 * status.
 *
 * @param entity Orders or users.
 * @param query Whether imported ones count as well, and how many at most.
 */
export function selectUnlogged(
  entity: Entity,
  query: { readonly imported: boolean; readonly limit: number },
): Statement {
  const missing = query.imported ? "coalesce(t.live, 0) = 0" : "t.seq IS NULL";
  return {
    sql: `SELECT e.${entity}_id, e.trust, e.status FROM ${entity}s AS e
      LEFT JOIN transitions AS t ON t.entity = '${entity}'
        AND t.entity_id = e.${entity}_id AND t.trust = e.trust
        AND t.status = e.status
      WHERE e.generation = ${liveGeneration} AND ${missing}
      ORDER BY e.${entity}_id LIMIT ?`,
    args: [query.limit],
  };
}

/**
 * Logs live states as news, unless they were logged as news before.
 *
 * @param entity Orders or users.
 * @param states Kind, id, trust and status of each; others are passed over.
 * @param recordedAt The time, UTC ISO 8601.
 */
export function logStates(
  entity: Entity,
  states: readonly (readonly string[])[],
  recordedAt: string,
): Statement {
  return {
    sql: `INSERT OR REPLACE INTO transitions
        (entity, entity_id, trust, status, position, recorded_at, live)
      SELECT '${entity}', e.${entity}_id, e.trust, e.status,
        p.position, ?1, 1
      FROM json_each(?2) AS w
      JOIN projections AS p ON p.name = 'live'
      JOIN ${entity}s AS e ON e.generation = p.generation
        AND e.${entity}_id = w.value ->> 1
      WHERE w.value ->> 0 = '${entity}' AND e.trust = w.value ->> 2
        AND e.status = w.value ->> 3
        AND NOT EXISTS (SELECT 1 FROM transitions AS t
          WHERE t.entity = '${entity}' AND t.entity_id = e.${entity}_id
            AND t.trust = e.trust AND t.status = e.status AND t.live = 1)`,
    args: [recordedAt, JSON.stringify(states)],
  };
}

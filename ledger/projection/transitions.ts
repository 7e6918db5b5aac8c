import type { Driver, ResultSet, Statement } from "../store/driver.ts";
import { pageSize } from "./cursor.ts";
import { type Entity, type Transition, transitionKey } from "./transition.ts";

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
 * @param driver The database.
 * @param query Which ones.
 */
export async function readTransitions(
  driver: Driver,
  query: TransitionQuery = {},
): Promise<Transition[]> {
  const [rows] = await driver.batch([selectTransitions(query)], "read");
  return rows?.rows.map(transitionOf) ?? [];
}

import type { Entity } from "../../../machines/transition.ts";
import type { Statement } from "../../driver/driver.ts";

/**
 * SQL for the id of what waits.
 *
 * @param alias What the statement calls `requests`.
 */
export function entityIdSql(alias: string): string {
  return `coalesce(${alias}.entity_id, (SELECT iif(${alias}.entity = 'order',
    e.order_id, e.user_id) FROM events AS e WHERE e.position = ${alias}.place))`;
}

/**
 * SQL for the position of the first event that names an order or user; null
 * where none does.
 *
 * @param id SQL of its id.
 */
export function firstEventOf(entity: Entity, id: string): string {
  return `(SELECT e.position FROM events AS e INDEXED BY events_by_${entity}
    WHERE e.${entity}_id = ${id} ORDER BY e.position LIMIT 1)`;
}

/**
 * SQL that selects places in queues by ids, which are a JSON array `?1`.
 *
 * @param condition Which queues, of a place.
 * @param select SQL of the id in an entry `w` of the array, and what is selected
 * of it and of a place `q`.
 */
export function placesOfIds(
  entity: Entity,
  condition: string,
  { id = "w.value", columns = "q.seq" }: {
    readonly id?: string;
    readonly columns?: string;
  } = {},
): string {
  return [`q.place = ${firstEventOf(entity, id)}`, `q.entity_id = ${id}`].map(
    (isIt) =>
      `SELECT ${columns} FROM json_each(?1) AS w CROSS JOIN requests AS q
        ON ${isIt} AND q.entity = '${entity}' AND q.${condition}`,
  ).join("\n      UNION ALL ");
}

/** What waits under one of the positions of a JSON array `?1`. */
const standsThere = "place IN (SELECT value FROM json_each(?1))";

/**
 * The statement that writes down whom requests mean, before the events by which
 * they are named are blanked.
 *
 * @param positions Positions of those events, as a JSON array.
 */
export function nameRequestsById(positions: string): Statement {
  return {
    sql: `UPDATE requests SET entity_id = ${entityIdSql("requests")}
      WHERE ${standsThere}`,
    args: [positions],
  };
}

/** The statement that names those requests by the events that are left. */
export function nameRequestsByEvents(positions: string): Statement {
  const place = `CASE entity WHEN 'order' THEN ${
    firstEventOf("order", "requests.entity_id")
  } ELSE ${firstEventOf("user", "requests.entity_id")} END`;
  return {
    sql: `UPDATE requests SET place = ${place},
        entity_id = iif(${place} IS NULL, entity_id, NULL)
      WHERE entity_id IS NOT NULL AND ${standsThere}`,
    args: [positions],
  };
}

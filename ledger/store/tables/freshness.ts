import type { Entity } from "../../entity.ts";
import type { Statement } from "../driver/driver.ts";

/**
 * Selects when the service was last asked for an order or user and when it is
 * asked next: one row of `asked_at`, whether it was found, then `due_at` and
 * `final_at` of the open orders, and `due_at` of those that webhooks named.
 */
export function selectFreshness(entity: Entity, id: string): Statement {
  return {
    sql: `SELECT s.asked_at, s.found, q.due_at, q.final_at, c.due_at
      FROM (SELECT 1) AS one
      LEFT JOIN observations AS s ON s.entity = ?1 AND s.entity_id = ?2
      LEFT JOIN open_queue AS q ON q.entity = ?1 AND q.entity_id = ?2
      LEFT JOIN confirm_queue AS c ON c.entity = ?1 AND c.entity_id = ?2`,
    args: [entity, id],
  };
}

import type { Statement } from "../driver/driver.ts";
import { liveGeneration } from "./checkpoints.ts";
import { isLink } from "./link_text.ts";

/**
 * Selects the orders under the click id of a session that the partner recorded:
 * rows of `session_id`, `row`. No webhook has to name the session. Where
 * the terms of an order already lead to the session, it means that order.
 *
 * @param sessions What the session id is one of, in SQL.
 * @param confirmed 1: the service has shown them under the click id; 0: only
 * webhooks name them with it.
 */
export function ordersOfSessions(sessions: string, confirmed: 0 | 1): string {
  return `SELECT x.session_id AS session_id, l.row AS row
    FROM expectations AS x INDEXED BY expectations_by_session
    CROSS JOIN order_links AS l
      ON l.generation = x.generation AND l.kind = 'click'
      AND ${isLink("x.click_id")} AND l.confirmed = ${confirmed}
    WHERE x.generation = ${liveGeneration} AND x.session_id IN (${sessions})
      AND NOT EXISTS (SELECT 1 FROM orders AS o
        WHERE o.generation = x.generation
          AND o.session_id = x.session_id COLLATE NOCASE
          AND o.session_id = x.session_id)`;
}

/**
 * Selects what the partner recorded under a session, click id or reference:
 * rows of session id, click id, reference, when it was asked for and until when
 * it is valid, the latest first.
 *
 * @param names The session, click id or reference, in one spelling or several.
 * @param limit Most rows.
 */
export function selectRecorded(
  names: readonly string[],
  limit: number,
): Statement {
  const named = ["session", "click", "reference"].map((kind) => {
    const column = kind === "reference" ? kind : `${kind}_id`;
    return `SELECT position FROM expectations
        INDEXED BY expectations_by_${kind}
      WHERE generation = ${liveGeneration} AND ${column} IN (
        SELECT value FROM json_each(?1))`;
  }).join("\n      UNION ");
  return {
    sql: `SELECT session_id, click_id, reference, asked_at, valid_until
      FROM expectations WHERE generation = ${liveGeneration}
        AND position IN (${named})
      ORDER BY +asked_at DESC, position DESC LIMIT ?2`,
    args: [JSON.stringify(names), limit],
  };
}

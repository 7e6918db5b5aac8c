import type { SqlValue, Statement } from "../../driver/driver.ts";
import { liveGeneration } from "../checkpoints.ts";
import { placesOfIds } from "../polling/request_places.ts";
import { isLink } from "../link_text.ts";

/** What is deleted beside the events of a person. */
export interface Traces {
  /** Orders whose states are made anew. */
  readonly orderIds: readonly string[];
  /** Those of them that are the person's. */
  readonly ownOrders: readonly string[];
  /** Users whose states are made anew. */
  readonly userIds: readonly string[];
  /** Users of whom nothing may be left. */
  readonly erasedUsers: readonly string[];
  /** Sessions that are blanked. */
  readonly sessions: readonly number[];
  /** Deliveries that are blanked: what was noted of them may name the person. */
  readonly deliveries: readonly string[];
}

/** Deletes states, links and what else follows from the events of a person. */
export function deleteTraces(traces: Traces): Statement[] {
  const orders = JSON.stringify(traces.orderIds);
  const own = JSON.stringify(traces.ownOrders);
  const users = JSON.stringify([...traces.userIds, ...traces.erasedUsers]);
  const gone = JSON.stringify(traces.erasedUsers);
  const sessions = JSON.stringify(traces.sessions);
  const given = (sql: string, args: SqlValue[]) => ({ sql, args });
  const inList = "IN (SELECT value FROM json_each(?1))";
  return [
    given(
      `DELETE FROM requests WHERE seq IN (${
        placesOfIds("user", "queue IN (0, 1)")
      })`,
      [gone],
    ),
    given(
      `DELETE FROM order_links WHERE row IN (
        SELECT row FROM orders WHERE order_id ${inList})`,
      [orders],
    ),
    given(`DELETE FROM orders WHERE order_id ${inList}`, [orders]),
    given(`DELETE FROM users WHERE user_id ${inList}`, [users]),
    given(`DELETE FROM expectations WHERE position ${inList}`, [sessions]),
    given(
      `UPDATE queued_transitions SET error = NULL
        WHERE entity = 'order' AND entity_id ${inList}`,
      [own],
    ),
    given(
      `DELETE FROM isolated_ids WHERE entity = 'order' AND entity_id ${inList}`,
      [own],
    ),
    given(
      `UPDATE notes SET text = '' WHERE entity = 'order'
        AND entity_id ${inList}`,
      [own],
    ),
    given(
      `DELETE FROM notes WHERE entity = 'delivery' AND entity_id ${inList}`,
      [JSON.stringify(traces.deliveries)],
    ),
    ...[
      "transitions",
      "queued_transitions",
      "observations",
      "isolated_ids",
      "notes",
    ].map((table) =>
      given(
        `DELETE FROM ${table} WHERE entity = 'user' AND entity_id ${inList}`,
        [gone],
      )
    ),
  ];
}

/** Stores the digests of redacted readings: rows of order id and digest. */
export function updateObservedDigests(
  digests: readonly (readonly [orderId: string, digest: string])[],
): Statement {
  return {
    sql: `UPDATE observations SET digest = w.value ->> 1
      FROM json_each(?1) AS w WHERE entity = 'order' AND found = 1
        AND entity_id = w.value ->> 0`,
    args: [JSON.stringify(digests)],
  };
}

/**
 * Deletes links to orders, in the states that readers see; the orders are still
 * there.
 */
export function deleteLinks(
  links: readonly (readonly [kind: string, link: string, orderId: string])[],
): Statement {
  return {
    sql: `DELETE FROM order_links WHERE (generation, kind, link, confirmed,
        began_by, row, capitals) IN (SELECT l.generation, l.kind, l.link,
          l.confirmed, l.began_by, l.row, l.capitals
        FROM json_each(?1) AS w
        CROSS JOIN orders AS o ON o.generation = ${liveGeneration}
          AND o.order_id = w.value ->> 2
        CROSS JOIN order_links AS l ON l.generation = o.generation
          AND l.kind = w.value ->> 0 AND ${isLink("(w.value ->> 1)")}
          AND l.row = o.row)`,
    args: [JSON.stringify(links)],
  };
}

/** Deletes states that are made anew, and links to sessions that are blanked. */
export function deleteStates(
  states: Pick<Traces, "orderIds" | "userIds" | "sessions">,
): Statement[] {
  const inList = "IN (SELECT value FROM json_each(?1))";
  return [
    {
      sql: `DELETE FROM orders WHERE (generation, order_id) IN
        (SELECT p.generation, w.value FROM projections AS p, json_each(?1) AS w)`,
      args: [JSON.stringify(states.orderIds)],
    },
    {
      sql: `DELETE FROM users WHERE (generation, user_id) IN
        (SELECT p.generation, w.value FROM projections AS p, json_each(?1) AS w)`,
      args: [JSON.stringify(states.userIds)],
    },
    {
      sql: `DELETE FROM expectations WHERE position ${inList}`,
      args: [JSON.stringify(states.sessions)],
    },
  ];
}

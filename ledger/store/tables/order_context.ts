import type { Statement } from "../driver/driver.ts";
import { liveGeneration } from "./checkpoints.ts";
import { orderStateSql } from "./orders.ts";
import { FIRST_MS, msSql } from "./stored_times.ts";

/**
 * Whether anything was ever recorded to compare orders with: 1 or 0. The first
 * condition is that of the index by kind.
 */
export const anyExpectation = `EXISTS (SELECT 1 FROM events
  WHERE kind <> 'webhook' AND kind IN ('session_created', 'order_expected'))`;

/**
 * Whether another order holds the purchase of an order: 1, else 0 or null. The
 * last entry of the release log says it: beside `max`, SQLite takes the other
 * columns from the row that has the maximum.
 */
export const isPaidTwice = `(SELECT max(t.seq) > 0 AND t.reason = 'paid_twice'
  FROM transitions AS t WHERE t.entity = 'order' AND t.machine = 'release'
    AND t.entity_id = orders.order_id)`;

/**
 * The release of an order that moved and that nobody was told of, as a list of
 * what was entered and its entry; else null. Of one that is restored it is the
 * `yes`. It ends when its key is fired, and when a person releases the order by
 * hand.
 */
export const withheldRelease = `(SELECT CASE WHEN max(t.seq) > 0
    AND t.withheld = 1 AND t.live = 0
    THEN CASE t.status WHEN 'restored' THEN json_array('yes', 1)
      ELSE json_array(t.status, t.entry) END END
  FROM transitions AS t WHERE t.entity = 'order' AND t.machine = 'release'
    AND t.entity_id = orders.order_id)`;

/** What rows of orders say beside their state. */
export const orderContext =
  `${anyExpectation}, ${isPaidTwice}, ${withheldRelease}`;

/**
 * Selects what was known beside the states of orders: rows of id, and the columns
 * of {@linkcode orderContext}. Whether another order had the purchase, and whether
 * nobody was told of the release, the log says as it was then.
 *
 * @param orderIds The orders.
 * @param asOf The position up to which events count, or the time up to which they
 * were recorded, UTC ISO 8601 with milliseconds.
 */
export function selectContextsAt(
  orderIds: readonly string[],
  asOf: { readonly position: number } | { readonly time: string },
): Statement {
  const [column, value] = "position" in asOf
    ? ["position", asOf.position]
    : ["recorded_at", asOf.time];
  return {
    sql: `SELECT w.value, EXISTS (SELECT 1 FROM events AS e
          WHERE e.kind <> 'webhook'
            AND e.kind IN ('session_created', 'order_expected')
            AND e.${column} <= ?2),
        (SELECT max(t.seq) > 0 AND t.reason = 'paid_twice' ${logOf(column)}),
        (SELECT CASE WHEN max(t.seq) > 0 AND t.withheld = 1
            THEN json_array(t.status, t.entry) END ${logOf(column)})
      FROM json_each(?1) AS w`,
    args: [JSON.stringify(orderIds), value],
  };
}

const logOf = (column: string) =>
  `FROM transitions AS t WHERE t.entity = 'order' AND t.machine = 'release'
    AND t.entity_id = w.value AND t.${column} <= ?2`;

/**
 * Selects when the first order was created that is released unchecked and is no
 * task of a person: nothing was ever recorded to compare orders with, or the
 * service leaves out what was; no row where that is not so; {@linkcode timeOf} reads it. What was created before the ledger went live was not released by it.
 */
export const selectUncheckedSince: Statement = {
  sql: `SELECT sort_at FROM orders
    WHERE generation = ${liveGeneration} AND release = 'unchecked'
      AND (NOT ${anyExpectation} OR (release_reason = 'incomplete'
        AND instr(coalesce(attention, ''), ' not_comparable ') = 0))
      AND sort_at >= coalesce((SELECT ${
    msSql("go_live")
  } FROM rampkit), ${FIRST_MS})
    ORDER BY sort_at LIMIT 1`,
  args: [],
};

/**
 * Selects what the outcome of live orders depends on: rows of id, state, and
 * whether another order holds the purchase.
 *
 * @param orderIds Which ones.
 */
export function selectOutcomeFacts(orderIds: readonly string[]): Statement {
  return {
    sql: `SELECT order_id, ${orderStateSql()}, ${isPaidTwice} FROM orders
      WHERE generation = ${liveGeneration}
        AND order_id IN (SELECT value FROM json_each(?))`,
    args: [JSON.stringify(orderIds)],
  };
}

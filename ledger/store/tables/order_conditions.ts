import type { Statement } from "../driver/driver.ts";
import { liveGeneration } from "./checkpoints.ts";
import type { Condition } from "./state_pages.ts";

/** Which orders to read; all that is set must hold. */
export interface OrderFilter {
  readonly status?: string;
  readonly trust?: "claimed" | "confirmed";
  readonly userId?: string;
  readonly clickId?: string;
  readonly commodity?: string;
  readonly open?: boolean;
  readonly anomaly?: true | string;
  readonly attention?: string;
  /** Paid and unchanged since then is stuck, UTC ISO 8601. */
  readonly stuckSince?: string;
}

/** Selects state and activity of the orders that a link leads to, by time. */
export function selectOrdersOfLink(link: string, limit: number): Statement {
  return {
    // The plus keeps SQLite from walking all orders by time to save a sort.
    sql: `SELECT state, activity FROM orders
      WHERE generation = ${liveGeneration} AND order_id IN (
        SELECT order_id FROM order_links
        WHERE generation = ${liveGeneration}
          AND kind IN ('click', 'external', 'session') AND link = ?)
      ORDER BY +sort_at, order_id LIMIT ${limit}`,
    args: [link],
  };
}

/**
 * The conditions of a query in SQL. Where an index is partial its condition is
 * written out, because a bound value would hide it.
 *
 * @param query The query.
 */
export function orderConditions(query: OrderFilter): Condition[] {
  const conditions: Condition[] = [];
  const add = (sql: string, ...args: Condition["args"]) =>
    conditions.push({ sql, args });
  if (query.status !== undefined) add("status = ?", query.status);
  if (query.trust !== undefined) {
    add(
      query.trust === "claimed" ? "trust = 'claimed'" : "trust = 'confirmed'",
    );
  }
  if (query.userId !== undefined) add("user_id = ?", query.userId);
  if (query.commodity !== undefined) {
    add("commodity = ?", query.commodity.toUpperCase());
  }
  if (query.open !== undefined) add(query.open ? "open = 1" : "open = 0");
  if (query.clickId !== undefined) {
    add(
      `order_id IN (SELECT order_id FROM order_links WHERE generation = ` +
        `${liveGeneration} AND kind = 'click' AND link = ?)`,
      query.clickId,
    );
  }
  if (query.attention === "stuck") {
    add(
      `open = 1 AND state ->> '$.changedAt' <= ?
        AND (state ->> '$.confirmed.status' = 'pending'
          OR (state ->> '$.confirmed.status' = 'progress'
            AND state ->> '$.transferSeen'))`,
      query.stuckSince ?? "",
    );
  } else if (query.attention !== undefined) {
    add("attention IS NOT NULL");
    add("instr(attention, ?) > 0", ` ${query.attention} `);
  }
  if (query.anomaly !== undefined) {
    add("anomalies IS NOT NULL");
    if (query.anomaly !== true) {
      add("instr(anomalies, ?) > 0", ` ${query.anomaly} `);
    }
  }
  return conditions;
}

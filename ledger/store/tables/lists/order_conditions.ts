import type { Statement } from "../../driver/driver.ts";
import { orderContext } from "../order_context.ts";
import { liveGeneration } from "../checkpoints.ts";
import { isLink } from "../link_text.ts";
import {
  isStuck,
  isUnseen,
  notPaidTwice,
  paidTwice,
  waitsFor,
  type WaitTimes,
} from "./order_waits.ts";
import { orderStateSql } from "../orders.ts";
import { ordersOfSessions } from "../recorded_sessions.ts";
import type { Condition } from "./selection.ts";

/** Which orders to read; all that is set must hold. */
export interface OrderFilter extends WaitTimes {
  readonly status?: string;
  readonly trust?: "claimed" | "confirmed";
  readonly userId?: string;
  readonly clickId?: string;
  readonly commodity?: string;
  readonly open?: boolean;
  readonly anomaly?: true | string;
  readonly attention?: string;
  readonly case?: string;
  readonly outcome?: StoredOutcome;
  readonly network?: string;
  readonly currency?: string;
  /** The partner's own reference, or the external id. */
  readonly named?: string;
}

/**
 * An outcome as stored states have it, which know neither the time nor other
 * orders.
 */
export interface StoredOutcome {
  /** The codes that are stored. */
  readonly stored: readonly string[];
  /** Whether the order has to be overdue. @default {it does not matter} */
  readonly overdue?: boolean;
  /** Whether another order has to hold the purchase. @default {likewise} */
  readonly twice?: boolean;
}

/**
 * The orders that the service has shown under a reference `?1`: a click id, an
 * external id, or the partner's own reference or session; an order may come
 * from a session that the partner recorded under its click id.
 */
const confirmedByReference = `SELECT row FROM order_links AS l
    WHERE generation = ${liveGeneration}
      AND kind IN ('click', 'external', 'session')
      AND ${isLink("?1")} AND confirmed = 1` +
  ["reference", "session_id"].map((column) => `
  UNION ALL SELECT row FROM orders WHERE generation = ${liveGeneration}
    AND ${column} = ?1 COLLATE NOCASE AND ${column} = ?1`).join("") +
  ` UNION ALL SELECT row FROM (${ordersOfSessions("?1", 1)})`;

/** Selects state and activity of the orders that are confirmed to have it. */
export function selectConfirmedByReference(
  reference: string,
  limit: number,
): Statement {
  return ordersOf(`row IN (${confirmedByReference})`, reference, limit);
}

/** Selects state and activity of the orders that only webhooks name with it. */
export function selectClaimedByReference(
  reference: string,
  limit: number,
): Statement {
  return ordersOf(
    `row IN (SELECT row FROM order_links AS l
      WHERE generation = ${liveGeneration}
        AND kind IN ('click', 'external', 'session') AND ${isLink("?1")})
      AND row NOT IN (${confirmedByReference})`,
    reference,
    limit,
  );
}

function ordersOf(
  condition: string,
  reference: string,
  limit: number,
): Statement {
  return {
    // The plus keeps SQLite from walking all orders by time to save a sort.
    sql: `SELECT ${orderStateSql()}, activity, ${orderContext} FROM orders
      WHERE ${condition}
      ORDER BY +sort_at, place LIMIT ${limit}`,
    args: [reference],
  };
}

/**
 * Conditions that part open orders into the ranges of their index; none where
 * a query does not go by that.
 *
 * @param query The query.
 */
export function openConditions(query: OrderFilter): Condition[] {
  const { open, attention, ...by } = query;
  if (!open && attention !== "stuck") return [];
  const { trust, status, userId, clickId, commodity } = by;
  const isByOther = [trust, status, userId, clickId, commodity]
    .some((one) => one !== undefined);
  return isByOther ? [] : ["claimed", "confirmed"].map((trust) => ({
    sql: `trust = '${trust}'`,
    args: [],
  }));
}

/** A release and a reason that an order may have. */
export interface ReleasePair {
  readonly release: string;
  readonly reason: string;
}

/**
 * The conditions under which orders have one of some releases and reasons, one
 * for each index range. What is stored knows no other order: a stored yes whose
 * purchase another order holds is read as waiting.
 *
 * @param pairs Which ones.
 * @param reason The only reason; without it, all reasons of each release.
 */
export function releaseConditions(
  pairs: readonly ReleasePair[],
  reason?: string,
): Condition[] {
  const stored = pairs.filter((one) => one.reason !== "paid_twice");
  const conditions = [...new Set(stored.map(({ release }) => release))].map(
    (release): Condition => ({
      sql: "release = ?" +
        (reason === undefined ? "" : " AND release_reason = ?") +
        (release === "yes" ? ` AND ${notPaidTwice}` : ""),
      args: reason === undefined ? [release] : [release, reason],
    }),
  );
  if (stored.length < pairs.length) {
    conditions.push({ sql: `release = 'yes' AND ${paidTwice}`, args: [] });
  }
  return conditions.length === 0 ? [{ sql: "false", args: [] }] : conditions;
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
    // What is claimed is open: the index of open orders has it.
    add(
      query.trust === "claimed"
        ? "trust = 'claimed' AND open = 1"
        : "trust = 'confirmed'",
    );
  }
  if (query.userId !== undefined) add("user_id = ?", query.userId);
  if (query.commodity !== undefined) {
    add("commodity = ?", query.commodity.toUpperCase());
  }
  if (query.open !== undefined) add(query.open ? "open = 1" : "open = 0");
  if (query.clickId !== undefined) {
    const ofClick = `SELECT o.order_id FROM order_links AS l
      CROSS JOIN orders AS o ON o.row = l.row
      WHERE l.generation = ${liveGeneration} AND l.kind = 'click'
        AND ${isLink("?")}`;
    const confirmed = `${ofClick} AND l.confirmed = 1`;
    const { clickId } = query;
    // Those that only webhooks name, where the service has shown none.
    add(
      `order_id IN (${confirmed}
        UNION ALL ${ofClick} AND NOT EXISTS (${confirmed}))`,
      ...new Array(6).fill(clickId),
    );
  }
  if (query.network !== undefined) {
    add("network = ? COLLATE NOCASE", query.network);
  }
  if (query.currency !== undefined) {
    add("currency = ? COLLATE NOCASE", query.currency);
  }
  if (query.named !== undefined) {
    add(
      `order_id IN (SELECT order_id FROM orders
          WHERE generation = ${liveGeneration} AND reference = ? COLLATE NOCASE
        UNION ALL SELECT o.order_id FROM order_links AS l
          CROSS JOIN orders AS o ON o.row = l.row
          WHERE l.generation = ${liveGeneration} AND l.kind = 'external'
            AND l.link = ? COLLATE NOCASE)`,
      query.named,
      query.named,
    );
  }
  if (query.outcome !== undefined) {
    const { stored, overdue, twice } = query.outcome;
    add(`outcome IN (${stored.map(() => "?").join(", ")})`, ...stored);
    if (overdue !== undefined) {
      const isOverdue = `((${isStuck}) OR (${isUnseen}))`;
      add(
        overdue ? isOverdue : `${isOverdue} IS NOT 1`,
        query.stuckSince ?? "",
        query.unseenSince ?? "",
      );
    }
    if (twice !== undefined) add(twice ? paidTwice : notPaidTwice);
  }
  if (query.attention !== undefined) {
    conditions.push(...waitsFor(query.attention, query));
  }
  if (query.anomaly !== undefined) {
    add("anomalies IS NOT NULL");
    if (query.anomaly !== true) {
      add("instr(anomalies, ?) > 0", ` ${query.anomaly} `);
    }
  }
  return conditions;
}

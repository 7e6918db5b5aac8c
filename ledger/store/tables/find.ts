import type { SqlValue, Statement } from "../driver/driver.ts";
import { liveGeneration } from "./checkpoints.ts";
import { orderContext } from "./order_context.ts";
import { orderStateSql } from "./orders.ts";
import { ordersOfSessions } from "./recorded_sessions.ts";
import { userTextsSql } from "./users.ts";

/** A text that is looked for. */
export interface SearchedText {
  /** The text, without spaces around it. */
  readonly text: string;
  /** Whether what begins with it is found as well. */
  readonly isPrefix: boolean;
  /** Most rows of each way to find one. */
  readonly limit: number;
}

/** Above every text that begins alike. */
const LAST = "\u{10ffff}";

/**
 * Selects orders by anything that names one: rows of what matched, its value,
 * state, activity, whether the service has shown the order under it (NULL where
 * the state tells), and what else is known of the order. Each part goes by an
 * index of its own; what the service has shown has one apart, so that no number
 * of webhooks keeps it from being found.
 */
export function selectFoundOrders(searched: SearchedText): Statement {
  const { text, isPrefix, limit } = searched;
  const parts: { readonly sql: string; readonly args: SqlValue[] }[] = [];
  const add = (part: string, ...args: SqlValue[]) =>
    parts.push({
      sql: `SELECT * FROM (${part} LIMIT ${limit})`,
      args,
    });
  const orders = (
    matched: string,
    column: string,
    condition: string,
    confirmed = "NULL",
  ) =>
    `SELECT '${matched}' AS matched, ${column} AS value, row,
        ${confirmed} AS confirmed
      FROM orders WHERE generation = ${liveGeneration} AND ${condition}`;
  const addLinks = (
    matched: string,
    kind: string,
    condition: string,
    ...args: SqlValue[]
  ) => {
    for (const confirmed of [1, 0]) {
      add(
        `SELECT DISTINCT '${matched}' AS matched, link AS value, row,
            ${confirmed} AS confirmed
          FROM order_links
          WHERE generation = ${liveGeneration} AND kind = '${kind}'
            AND ${condition} AND confirmed = ${confirmed}`,
        ...args,
      );
    }
  };
  for (const spelling of spellings(text)) {
    if (isPrefix) {
      const range = "order_id >= ? AND order_id < ?";
      add(orders("orderId", "order_id", range), spelling, spelling + LAST);
    } else {
      add(orders("orderId", "order_id", "order_id = ?"), spelling);
    }
  }
  const condition = (column: string) =>
    isPrefix
      ? `${column} >= ? COLLATE NOCASE AND ${column} < ? COLLATE NOCASE`
      : `${column} = ? COLLATE NOCASE`;
  const range = isPrefix ? [text, text + LAST] : [text];
  addLinks("externalOrderId", "external", condition("link"), ...range);
  add(
    orders("reference", "reference", condition("reference"), "1"),
    ...range,
  );
  const same = (column: string) => `${column} = ? COLLATE NOCASE`;
  addLinks("clickId", "click", same("link"), text);
  addLinks("sessionId", "session", same("link"), text);
  add(orders("sessionId", "session_id", same("session_id"), "1"), text);
  const names = spellings(text);
  for (const confirmed of [1, 0] as const) {
    const sessions = names.map(() => "?").join(", ");
    add(
      `SELECT DISTINCT 'sessionId' AS matched, session_id AS value, row,
          ${confirmed} AS confirmed
        FROM (${ordersOfSessions(sessions, confirmed)})`,
      ...names,
    );
  }
  add(orders("txId", "tx_id", same("tx_id")), text);
  add(orders("address", "address", same("address")), text);
  return {
    sql: `SELECT f.matched, f.value, ${orderStateSql()}, orders.activity,
        f.confirmed, ${orderContext}
      FROM (${parts.map(({ sql }) => sql).join(" UNION ALL ")}) AS f
      CROSS JOIN orders ON orders.row = f.row`,
    args: parts.flatMap(({ args }) => args),
  };
}

/** Selects users by their id: rows of state and activity. */
export function selectFoundUsers({ text }: SearchedText): Statement {
  const ids = spellings(text);
  return {
    sql: `SELECT ${userTextsSql().state}, activity FROM users
      WHERE generation = ${liveGeneration}
        AND user_id IN (${ids.map(() => "?").join(", ")})`,
    args: ids,
  };
}

/** Identifiers of the service are in capitals or in none. */
export function spellings(text: string): string[] {
  return [...new Set([text, text.toUpperCase(), text.toLowerCase()])];
}

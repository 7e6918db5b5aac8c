import { spellingsOf } from "../../../core/chain/canonical.ts";
import type { SqlValue, Statement } from "../driver/driver.ts";
import { liveGeneration } from "./checkpoints.ts";
import { orderContext } from "./order_context.ts";
import { beginningOf, beginningSql, orderStateSql } from "./orders.ts";
import { ordersOfSessions } from "./recorded_sessions.ts";
import { userTextsSql } from "./users.ts";

/** A text that is looked for. */
export interface SearchedText {
  /** The text, without spaces around it. */
  readonly text: string;
  /** Whether what begins with it is found as well. */
  readonly isPrefix: boolean;
  /** Whether that holds for random names too: of these, it has to be long. */
  readonly isLong: boolean;
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
  const { text, isPrefix, isLong, limit } = searched;
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
  for (const spelling of spellingsOf(text)) {
    if (isPrefix) {
      const range = "order_id >= ? AND order_id < ?";
      add(orders("orderId", "order_id", range), spelling, spelling + LAST);
    } else {
      add(orders("orderId", "order_id", "order_id = ?"), spelling);
    }
  }
  const begins = (column: string) =>
    `${column} >= ? COLLATE NOCASE AND ${column} < ? COLLATE NOCASE`;
  const same = (column: string) => `${column} = ? COLLATE NOCASE`;
  const condition = isPrefix ? begins : same;
  const range = isPrefix ? [text, text + LAST] : [text];
  const random = isLong ? begins : same;
  const randomRange = isLong ? [text, text + LAST] : [text];
  addLinks("externalOrderId", "external", condition("link"), ...range);
  add(
    orders("reference", "reference", condition("reference"), "1"),
    ...range,
  );
  addLinks("clickId", "click", random("link"), ...randomRange);
  addLinks("sessionId", "session", random("link"), ...randomRange);
  add(
    orders("sessionId", "session_id", random("session_id"), "1"),
    ...randomRange,
  );
  const names = spellingsOf(text);
  for (const confirmed of [1, 0] as const) {
    const sessions = names.map(() => "?").join(", ");
    add(
      `SELECT DISTINCT 'sessionId' AS matched, session_id AS value, row,
          ${confirmed} AS confirmed
        FROM (${ordersOfSessions(sessions, confirmed)})`,
      ...names,
    );
  }
  // Their indexes have the beginning: it narrows the search, and the rest decides.
  const beginning = beginningOf(text);
  const beginnings = isLong ? [beginning, beginning + LAST] : [beginning];
  for (
    const [matched, column] of [["txId", "tx_id"], [
      "address",
      "address",
    ]] as const
  ) {
    const narrowed = `${column} IS NOT NULL AND ${
      random(beginningSql(column))
    }`;
    add(
      orders(matched, column, `${narrowed} AND ${random(`+${column}`)}`),
      ...[...beginnings, ...randomRange],
    );
    const others = names.filter((one) =>
      one.toLowerCase() !== text.toLowerCase()
    );
    if (others.length === 0) continue;
    const places = others.map(() => "?").join(", ");
    const beginningIn = `${column} IS NOT NULL AND ${
      beginningSql(column)
    } COLLATE NOCASE IN (${places})`;
    add(
      orders(matched, column, `${beginningIn} AND +${column} IN (${places})`),
      ...[...others.map(beginningOf), ...others],
    );
  }
  return {
    sql: `SELECT f.matched, f.value, ${orderStateSql()}, orders.activity,
        f.confirmed, ${orderContext}
      FROM (${parts.map(({ sql }) => sql).join(" UNION ALL ")}) AS f
      CROSS JOIN orders ON orders.row = f.row`,
    args: parts.flatMap(({ args }) => args),
  };
}

/** The newest orders, of which also a part of a hash is looked for. */
const NEWEST = 20_000;

/**
 * Selects orders by a part of the hash of their transaction, or by the card that
 * paid, among the newest: rows as {@linkcode selectFoundOrders} has them. No
 * index has these.
 */
export function selectOrdersByPart(text: string, limit: number): Statement {
  const state = "orders.state ->> '$.cardId'";
  return {
    sql: `SELECT CASE WHEN instr(lower(orders.tx_id), lower(?1)) > 0
          THEN 'txId' ELSE 'cardId' END,
        CASE WHEN instr(lower(orders.tx_id), lower(?1)) > 0
          THEN orders.tx_id ELSE ${state} END,
        ${orderStateSql()}, orders.activity, NULL, ${orderContext}
      FROM (SELECT row FROM orders WHERE generation = ${liveGeneration}
        ORDER BY sort_at DESC, place DESC LIMIT ${NEWEST}) AS n
      CROSS JOIN orders ON orders.row = n.row
      WHERE instr(lower(orders.tx_id), lower(?1)) > 0
        OR ${state} = ?1 COLLATE NOCASE
      LIMIT ${limit}`,
    args: [text],
  };
}

/** Selects users by their id: rows of state and activity. */
export function selectFoundUsers({ text }: SearchedText): Statement {
  const ids = spellingsOf(text);
  return {
    sql: `SELECT ${userTextsSql().state}, activity FROM users
      WHERE generation = ${liveGeneration}
        AND user_id IN (${ids.map(() => "?").join(", ")})`,
    args: ids,
  };
}

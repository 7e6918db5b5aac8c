import type { Statement } from "../driver/driver.ts";
import { type PackedRow, packedText, packRows } from "./packed_rows.ts";

/**
 * One row per order and generation. `fold` is private to the fold version that
 * wrote it; `state` and `activity` are what readers see, and can be read by any
 * version.
 *
 * `reference` and `session_id` are those that the partner recorded under the
 * click id which the service shows: no webhook puts anything there.
 *
 * `orders_with_attention` holds the kind of attention too, so that orders of
 * one kind are found without reading the others; likewise `orders_by_release`
 * the reason of the release. Both columns are those of the stored state, which
 * knows no other order.
 */
export const ordersSchema: readonly string[] = [
  `CREATE TABLE orders (
    generation INTEGER NOT NULL,
    order_id TEXT NOT NULL,
    status TEXT NOT NULL,
    trust TEXT NOT NULL,
    open INTEGER NOT NULL,
    user_id TEXT,
    commodity TEXT,
    sort_at TEXT NOT NULL,
    anomalies TEXT,
    attention TEXT,
    release TEXT NOT NULL,
    release_reason TEXT NOT NULL,
    tx_id TEXT,
    address TEXT,
    reference TEXT,
    session_id TEXT,
    state TEXT NOT NULL,
    activity TEXT NOT NULL,
    fold TEXT NOT NULL,
    UNIQUE (generation, order_id)
  ) STRICT`,
  `CREATE INDEX orders_by_time ON orders(generation, sort_at, order_id)`,
  `CREATE INDEX orders_by_status
    ON orders(generation, status, sort_at, order_id)`,
  `CREATE INDEX orders_by_user ON orders(generation, user_id, sort_at, order_id)
    WHERE user_id IS NOT NULL`,
  `CREATE INDEX orders_by_commodity
    ON orders(generation, commodity, sort_at, order_id)
    WHERE commodity IS NOT NULL`,
  `CREATE INDEX orders_claimed ON orders(generation, sort_at, order_id)
    WHERE trust = 'claimed'`,
  `CREATE INDEX orders_open ON orders(generation, sort_at, order_id)
    WHERE open = 1`,
  `CREATE INDEX orders_open_by_id ON orders(generation, order_id)
    WHERE open = 1`,
  `CREATE INDEX orders_with_anomaly ON orders(generation, sort_at, order_id)
    WHERE anomalies IS NOT NULL`,
  `CREATE INDEX orders_with_attention
    ON orders(generation, sort_at, order_id, attention)
    WHERE attention IS NOT NULL`,
  `CREATE INDEX orders_by_release
    ON orders(generation, release, sort_at, order_id, release_reason)`,
  ...["tx_id", "address", "reference", "session_id"].map((column) =>
    `CREATE INDEX orders_by_${column}
      ON orders(generation, ${column} COLLATE NOCASE)
      WHERE ${column} IS NOT NULL`
  ),
];

/**
 * How the case of an order stands that a person has dealt with: `asked`, or how
 * it was closed. Of an open one there is nothing.
 */
export const orderCasesSchema: readonly string[] = [
  "ALTER TABLE orders ADD COLUMN case_state TEXT",
  `CREATE INDEX orders_with_case
    ON orders(generation, case_state, sort_at, order_id)
    WHERE case_state IS NOT NULL`,
];

/** Counts open orders, where this version of the fold made them. */
export function countOpen(foldVersion: number): Statement {
  return {
    sql: `SELECT count(*) FROM orders AS o JOIN projections AS p
      ON p.name = 'live' AND p.generation = o.generation AND p.fold_version = ?1
      WHERE o.open = 1`,
    args: [foldVersion],
  };
}

/**
 * Selects what was folded of orders: rows of id and fold.
 *
 * @param generation Which set of states.
 * @param ids Which orders.
 */
export function selectOrderFolds(
  generation: number,
  ids: readonly string[],
): Statement {
  return {
    sql: `SELECT order_id, fold FROM orders
      WHERE generation = ?1 AND order_id IN (SELECT value FROM json_each(?2))`,
    args: [generation, JSON.stringify(ids)],
  };
}

/**
 * Stores orders in place of what was known of them.
 *
 * @param generation Which set of states.
 * @param rows Columns from `order_id` to `anomalies`, those that orders are
 * found by besides, then state, activity and fold.
 */
export function upsertOrders(
  generation: number,
  rows: readonly PackedRow[],
): Statement {
  return {
    sql: `INSERT INTO orders (generation, order_id, status, trust, open,
        user_id, commodity, sort_at, anomalies,
        attention, release, release_reason, tx_id, address, reference,
        session_id, case_state, state, activity, fold)
      SELECT ?3, r.value ->> 0, r.value ->> 1, r.value ->> 2, r.value ->> 3,
        r.value ->> 4, r.value ->> 5, r.value ->> 6, r.value ->> 7,
        r.value ->> 8, r.value ->> 9, r.value ->> 10, r.value ->> 11,
        r.value ->> 12, r.value ->> 13, r.value ->> 14, r.value ->> 15,
        ${packedText(16, 0)}, ${packedText(16, 1)}, ${packedText(16, 2)}
      FROM json_each(?2) AS r WHERE true
      ON CONFLICT (generation, order_id) DO UPDATE SET
        status = excluded.status, trust = excluded.trust, open = excluded.open,
        user_id = excluded.user_id, commodity = excluded.commodity,
        sort_at = excluded.sort_at, anomalies = excluded.anomalies,
        attention = excluded.attention, release = excluded.release,
        release_reason = excluded.release_reason, tx_id = excluded.tx_id,
        address = excluded.address, reference = excluded.reference,
        session_id = excluded.session_id, case_state = excluded.case_state,
        state = excluded.state, activity = excluded.activity,
        fold = excluded.fold`,
    args: [...packRows(rows), generation],
  };
}

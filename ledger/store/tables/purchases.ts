import type { HandOutcome } from "../../events/hand_release.ts";
import type { PurchaseWait } from "../../machines/transition.ts";
import type { ResultSet, Statement } from "../driver/driver.ts";

/**
 * Purchases that an order was released for: a keyed digest of the partner's
 * reference or click id, and the order that took it. All generations share
 * them. Nothing but the projection writes them, in its guarded batch; erasing a
 * person and pruning leave them. The key is random and never leaves the ledger.
 * Likewise `hand_releases`: orders that a person delivered or refunded; and
 * `purchase_waits`: orders that wait because another order has their purchase.
 */
export const purchasesSchema: readonly string[] = [
  `CREATE TABLE purchases (
    digest TEXT PRIMARY KEY,
    order_id TEXT NOT NULL
  ) STRICT, WITHOUT ROWID`,
  "CREATE INDEX purchases_by_order ON purchases(order_id)",
  `CREATE TABLE purchase_waits (
    order_id TEXT PRIMARY KEY,
    digest TEXT NOT NULL,
    reason TEXT NOT NULL,
    position INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  "CREATE INDEX purchase_waits_by_digest ON purchase_waits(digest)",
  `CREATE TABLE hand_releases (
    order_id TEXT PRIMARY KEY,
    outcome TEXT NOT NULL,
    position INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE purchase_key (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    key BLOB NOT NULL
  ) STRICT`,
  "INSERT INTO purchase_key (id, key) VALUES (1, randomblob(32))",
];

/** Selects the key that purchases are digested with. */
export const selectPurchaseKey: Statement = {
  sql: "SELECT key FROM purchase_key",
  args: [],
};

/**
 * Selects purchases that are taken: rows of digest and order.
 *
 * @param digests Which ones, in hex.
 */
export function selectPurchases(digests: readonly string[]): Statement {
  return {
    sql: `SELECT p.digest, p.order_id FROM json_each(?) AS w
      CROSS JOIN purchases AS p ON p.digest = w.value`,
    args: [JSON.stringify(digests)],
  };
}

/**
 * Takes purchases, from other orders too: the projection has decided that.
 *
 * @param purchases Orders by digest in hex.
 */
export function insertPurchases(
  purchases: ReadonlyMap<string, string>,
): Statement {
  return {
    sql: `INSERT INTO purchases (digest, order_id)
      SELECT value ->> 0, value ->> 1 FROM json_each(?)
      WHERE true ON CONFLICT (digest) DO UPDATE SET order_id = excluded.order_id`,
    args: [JSON.stringify([...purchases])],
  };
}

/** The statement that frees purchases. */
export function deletePurchases(digests: readonly string[]): Statement {
  return {
    sql:
      "DELETE FROM purchases WHERE digest IN (SELECT value FROM json_each(?))",
    args: [JSON.stringify(digests)],
  };
}

/** Selects purchases that orders have taken: rows of digest and order. */
export function selectPurchasesOf(orderIds: readonly string[]): Statement {
  return {
    sql: `SELECT p.digest, p.order_id FROM json_each(?) AS w
      CROSS JOIN purchases AS p ON p.order_id = w.value`,
    args: [JSON.stringify(orderIds)],
  };
}

/** The statement that deletes the waits of orders. */
export function deletePurchaseWaits(orderIds: readonly string[]): Statement {
  return {
    sql: `DELETE FROM purchase_waits
      WHERE order_id IN (SELECT value FROM json_each(?))`,
    args: [JSON.stringify(orderIds)],
  };
}

/** The statement that stores which purchase orders wait for. */
export function upsertPurchaseWaits(waits: readonly PurchaseWait[]): Statement {
  return {
    sql: `INSERT INTO purchase_waits (order_id, digest, reason, position)
      SELECT value ->> 'orderId', value ->> 'digest', value ->> 'reason',
        value ->> 'position' FROM json_each(?)
      WHERE true ON CONFLICT (order_id) DO UPDATE SET digest = excluded.digest,
        reason = excluded.reason, position = excluded.position`,
    args: [JSON.stringify(waits)],
  };
}

/** Selects orders that wait for purchases. */
export function selectPurchaseWaits(digests: readonly string[]): Statement {
  return {
    sql: `SELECT q.order_id, q.digest, q.reason, q.position
      FROM json_each(?) AS w
      CROSS JOIN purchase_waits AS q ON q.digest = w.value`,
    args: [JSON.stringify(digests)],
  };
}

/** Selects the order that holds the purchase which an order waits for. */
export function selectPurchaseHolder(orderId: string): Statement {
  return {
    sql: `SELECT p.order_id FROM purchase_waits AS q
      JOIN purchases AS p ON p.digest = q.digest WHERE q.order_id = ?`,
    args: [orderId],
  };
}

/** Reads the answer of {@linkcode selectPurchaseWaits}. */
export function purchaseWaitsOf(
  result: ResultSet | undefined,
): PurchaseWait[] {
  return result?.rows.map(([orderId, digest, reason, position]) => ({
    orderId: orderId as string,
    digest: digest as string,
    reason: reason as string,
    position: position as number,
  })) ?? [];
}

/** The statement that stores what persons did; the first of an order counts. */
export function insertHandReleases(
  hands: readonly {
    readonly orderId: string;
    readonly hand: HandOutcome;
    readonly position: number;
  }[],
): Statement {
  return {
    sql: `INSERT INTO hand_releases (order_id, outcome, position)
      SELECT value ->> 'orderId', value ->> 'hand', value ->> 'position'
      FROM json_each(?) WHERE true ON CONFLICT DO NOTHING`,
    args: [JSON.stringify(hands)],
  };
}

/** Selects which orders a person delivered or refunded. */
export function selectHandReleases(orderIds: readonly string[]): Statement {
  return {
    sql: `SELECT h.order_id FROM json_each(?) AS w
      CROSS JOIN hand_releases AS h ON h.order_id = w.value`,
    args: [JSON.stringify(orderIds)],
  };
}

import type { PurchaseName } from "../../events/expectation.ts";
import type { PurchaseWait } from "../../machines/transition.ts";
import { holderOf, type Purchase } from "../../releases/log_releases.ts";
import type { ResultSet, Statement } from "../driver/driver.ts";
import { liveGeneration } from "./checkpoints.ts";
import { isLink } from "./link_text.ts";
import { orderStateSql } from "./orders.ts";

/**
 * Purchases that were taken: a keyed digest of the partner's reference or click
 * id, the order that took it by its own release, those with which a person
 * delivered it, and the one of them that holds it. Nothing but the projection
 * writes them, in its guarded batch; erasing a person and pruning leave them. The
 * key is random and never leaves the ledger. Likewise `purchase_waits`: orders
 * whose row says yes for a purchase that they have not taken.
 */
export const purchasesSchema: readonly string[] = [
  `CREATE TABLE purchases (
    digest TEXT PRIMARY KEY,
    order_id TEXT,
    own TEXT,
    hands TEXT NOT NULL
  ) STRICT, WITHOUT ROWID`,
  "CREATE INDEX purchases_by_own ON purchases(own)",
  `CREATE TABLE purchase_waits (
    order_id TEXT PRIMARY KEY,
    digest TEXT NOT NULL,
    position INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  "CREATE INDEX purchase_waits_by_digest ON purchase_waits(digest)",
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
 * Selects purchases that are taken; {@linkcode purchasesOf} reads them.
 *
 * @param digests Which ones, in hex.
 */
export function selectPurchases(digests: readonly string[]): Statement {
  return {
    sql: `SELECT p.digest, p.own, p.hands FROM json_each(?) AS w
      CROSS JOIN purchases AS p ON p.digest = w.value`,
    args: [JSON.stringify(digests)],
  };
}

/** Reads the answer of {@linkcode selectPurchases}. */
export function purchasesOf(
  result: ResultSet | undefined,
): [digest: string, purchase: Purchase][] {
  return result?.rows.map(([digest, own, hands]) => [
    digest as string,
    { own: own as string | null, hands: JSON.parse(hands as string) },
  ]) ?? [];
}

/** Stores who has taken purchases, by digest in hex. */
export function upsertPurchases(
  purchases: ReadonlyMap<string, Purchase>,
): Statement {
  const rows = [...purchases].map(([digest, purchase]) => [
    digest,
    holderOf(purchase),
    purchase.own,
    JSON.stringify(purchase.hands),
  ]);
  return {
    sql: `INSERT INTO purchases (digest, order_id, own, hands)
      SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3
      FROM json_each(?) WHERE true ON CONFLICT (digest) DO UPDATE SET
        order_id = excluded.order_id, own = excluded.own,
        hands = excluded.hands`,
    args: [JSON.stringify(rows)],
  };
}

/**
 * Selects what orders have taken, and what they wait for: rows of order, digest
 * of what it took, digest of what it waits for, and from which position.
 */
export function selectPurchasesOf(orderIds: readonly string[]): Statement {
  return {
    sql: `SELECT w.value, p.digest, q.digest, q.position FROM json_each(?) AS w
      LEFT JOIN purchases AS p ON p.own = w.value
      LEFT JOIN purchase_waits AS q ON q.order_id = w.value
      WHERE p.digest IS NOT NULL OR q.digest IS NOT NULL`,
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
    sql: `INSERT INTO purchase_waits (order_id, digest, position)
      SELECT value ->> 'orderId', value ->> 'digest', value ->> 'position'
      FROM json_each(?)
      WHERE true ON CONFLICT (order_id) DO UPDATE SET digest = excluded.digest,
        position = excluded.position`,
    args: [JSON.stringify(waits)],
  };
}

/** Selects the orders that wait for purchases. */
export function selectPurchaseWaits(digests: readonly string[]): Statement {
  return {
    sql: `SELECT q.order_id FROM json_each(?) AS w
      CROSS JOIN purchase_waits AS q ON q.digest = w.value`,
    args: [JSON.stringify(digests)],
  };
}

/** Selects the order that holds the purchase which another one waits for. */
export function selectPurchaseHolder(orderId: string): Statement {
  return {
    sql: `SELECT p.order_id FROM purchase_waits AS q
      JOIN purchases AS p ON p.digest = q.digest
      WHERE q.order_id = ? AND p.order_id <> q.order_id`,
    args: [orderId],
  };
}

/**
 * Selects the states of orders that may be of a purchase: those that are compared
 * with its terms, or that the service shows under its click id.
 */
export function selectOrdersOfPurchase(
  { kind, name }: PurchaseName,
): Statement {
  const sql = kind === "reference"
    ? `SELECT ${orderStateSql()} FROM orders
        WHERE generation = ${liveGeneration} AND reference = ?1 LIMIT 50`
    : `SELECT ${orderStateSql()} FROM order_links AS l
        CROSS JOIN orders ON orders.row = l.row
        WHERE l.generation = ${liveGeneration} AND l.kind = 'click'
          AND ${isLink("?1")} AND l.confirmed = 1 LIMIT 50`;
  return { sql, args: [name] };
}

import { decodeOrderFold } from "../fold/codec.ts";
import type { OrderFold } from "../fold/order_fold.ts";
import { FOLD_VERSION } from "../fold/version.ts";
import type { Driver } from "../store/driver.ts";

/** An order the service may still change. */
export interface OpenOrder {
  /** Order identifier. */
  readonly orderId: string;
  /** What is known of it. */
  readonly fold: OrderFold;
  /** When it was asked for last, by our clock, UTC ISO 8601. */
  readonly askedAt: string | null;
}

/** The read model of the orders, where this version of the fold made it. */
const liveOrders = `orders AS o JOIN projections AS p
  ON p.name = 'live' AND p.generation = o.generation AND p.fold_version = ?1`;

/**
 * Reads orders that are not final, not confirmed, or contested, by order id.
 *
 * @param driver The ledger's database.
 * @param after The order id before the first; empty for the beginning.
 * @param limit How many at most.
 *
 * @example The first twenty
 * ```ts ignore
 * const open = await readOpenOrders(ledger.driver, "", 20);
 * ```
 */
export async function readOpenOrders(
  driver: Driver,
  after: string,
  limit: number,
): Promise<OpenOrder[]> {
  const [found] = await driver.batch([{
    sql: `SELECT o.order_id, o.fold, b.asked_at FROM ${liveOrders}
      LEFT JOIN observations AS b
        ON b.entity = 'order' AND b.entity_id = o.order_id
      WHERE o.open = 1 AND o.order_id > ?2
      ORDER BY o.order_id LIMIT ?3`,
    args: [FOLD_VERSION, after, limit],
  }], "read");
  return (found?.rows ?? []).map((row) => ({
    orderId: String(row[0]),
    fold: decodeOrderFold(String(row[1])),
    askedAt: row[2] === null ? null : String(row[2]),
  }));
}

/**
 * Counts them.
 *
 * @param driver The ledger's database.
 */
export async function countOpenOrders(driver: Driver): Promise<number> {
  const [found] = await driver.batch([{
    sql: `SELECT count(*) FROM ${liveOrders} WHERE o.open = 1`,
    args: [FOLD_VERSION],
  }], "read");
  return Number(found?.rows[0]?.[0] ?? 0);
}

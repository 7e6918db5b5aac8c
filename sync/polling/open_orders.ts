import {
  countOpen,
  decodeOrderFold,
  type Driver,
  FOLD_VERSION,
  type OrderFold,
  selectOpenOrders,
  selectQueuedOrders,
} from "../../ledger/for_sync.ts";

/** An order that is requested again and again. */
export interface OpenOrder {
  /** Order identifier. */
  readonly orderId: string;
  /** What is known of it. */
  readonly fold: OrderFold;
  /** Since when it is final, in ms since the epoch; null while it is open. */
  readonly finalAtMs: number | null;
}

/**
 * Reads what is known of orders that are in the queue.
 *
 * @param driver The ledger's database.
 * @param ids Which ones.
 * @returns Those of them that are in the read model.
 *
 * @example What is known of two orders
 * ```ts ignore
 * const open = await readOpenOrders(ledger.driver, ["01J…", "01K…"]);
 * ```
 */
export async function readOpenOrders(
  driver: Driver,
  ids: readonly string[],
): Promise<OpenOrder[]> {
  const [found] = await driver.batch(
    [selectOpenOrders(ids, FOLD_VERSION)],
    "read",
  );
  return (found?.rows ?? []).map((row) => ({
    orderId: String(row[0]),
    fold: decodeOrderFold(String(row[1])),
    finalAtMs: row[2] === null ? null : Number(row[2]),
  }));
}

/**
 * Reads orders that are not final, not confirmed, or contested, by their place
 * in the queue, due or not; without those that the service refuses.
 *
 * @param driver The ledger's database.
 * @param after The place before the first; 0 for the beginning.
 * @param limit How many at most.
 */
export async function readQueuedOrders(
  driver: Driver,
  after: number,
  limit: number,
): Promise<{ readonly seq: number; readonly orderId: string }[]> {
  const [found] = await driver.batch(
    [selectQueuedOrders(after, limit)],
    "read",
  );
  return (found?.rows ?? []).map((row) => ({
    seq: Number(row[0]),
    orderId: String(row[1]),
  }));
}

/**
 * Counts the orders that are not final, not confirmed, or contested.
 *
 * @param driver The ledger's database.
 */
export async function countOpenOrders(driver: Driver): Promise<number> {
  const [found] = await driver.batch([countOpen(FOLD_VERSION)], "read");
  return Number(found?.rows[0]?.[0] ?? 0);
}

import type { Driver } from "../store/driver/driver.ts";
import { selectPurchaseHolder } from "../store/tables/purchases.ts";

/**
 * Finds the order that holds the purchase which another order waits for.
 *
 * @param orderId The order that waits.
 * @returns Null where it waits for none.
 * @throws {LedgerError} When the database fails.
 */
export async function readPurchaseHolder(
  driver: Driver,
  orderId: string,
): Promise<string | null> {
  const [found] = await driver.batch([selectPurchaseHolder(orderId)], "read");
  return (found?.rows[0]?.[0] ?? null) as string | null;
}

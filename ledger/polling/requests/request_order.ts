import type { Driver } from "../../store/driver/driver.ts";
import { queueConfirms } from "../../store/tables/polling/queued_requests.ts";

/**
 * Puts an order among those that the poller reads next, as a webhook that names
 * it does.
 *
 * @param driver The ledger's database.
 * @param orderId The order.
 * @param nowMs The time, in milliseconds since the epoch.
 * @throws {LedgerError} When the database fails.
 */
export async function requestOrder(
  driver: Driver,
  orderId: string,
  nowMs: number,
): Promise<void> {
  const row = ["order", orderId, new Date(nowMs).toISOString(), 0] as const;
  await driver.batch([queueConfirms([row])], "write");
}

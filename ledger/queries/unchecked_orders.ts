import type { Driver } from "../store/driver/driver.ts";
import { selectUncheckedSince } from "../store/tables/order_context.ts";

/**
 * Since when orders succeed that nothing was recorded for, in a ledger that has
 * never recorded what it expects. No order of it can be compared, and none of
 * them waits for a person.
 *
 * @param driver A database that has been migrated.
 * @returns When the first of them was created, UTC ISO 8601; null where orders
 * are compared, or none has succeeded since the ledger went live.
 * @throws {LedgerError} When the database fails.
 */
export async function uncheckedSince(driver: Driver): Promise<string | null> {
  const [found] = await driver.batch([selectUncheckedSince], "read");
  return (found?.rows[0]?.[0] ?? null) as string | null;
}

import type { Driver } from "../store/driver/driver.ts";
import { selectUnchecked } from "../store/tables/order_context.ts";

/**
 * Whether orders succeed that nothing was recorded for, in a ledger that has
 * never recorded what it expects. No order of it can be compared, and none of
 * them waits for a person.
 *
 * @param driver A database that has been migrated.
 * @throws {LedgerError} When the database fails.
 */
export async function comparesNothing(driver: Driver): Promise<boolean> {
  const [found] = await driver.batch([selectUnchecked], "read");
  return found?.rows[0]?.[0] === 1;
}

import type { Driver } from "./driver.ts";
import { RetryingDriver } from "./retrying_driver.ts";

/**
 * Lets a driver retry while its database is busy, and proves that the database
 * answers; closes the driver when it does not.
 */
export async function reached(
  driver: Driver,
  { busyLimitMs }: { readonly busyLimitMs?: number },
): Promise<Driver> {
  const retrying = new RetryingDriver(
    driver,
    busyLimitMs === undefined ? {} : { busyLimitMs },
  );
  try {
    await retrying.batch([{ sql: "SELECT 1", args: [] }], "read");
  } catch (error) {
    await driver.close();
    throw error;
  }
  return retrying;
}

import type { Driver } from "./driver/driver.ts";

/**
 * Checks that the database would accept a write, and writes nothing.
 *
 * @throws {LedgerError} With the reason when it takes none.
 */
export async function requireWritable(driver: Driver): Promise<void> {
  // The lock that a write takes.
  await driver.batch([{ sql: "SELECT 1", args: [] }], "write");
}

/**
 * Looks for damage in the pages of a database file.
 *
 * @returns The first damage found; null where there is none.
 * @throws {LedgerError} When the database fails.
 */
export async function findDamage(driver: Driver): Promise<string | null> {
  const [result] = await driver.batch([{
    sql: "PRAGMA quick_check(1)",
    args: [],
  }], "read");
  const found = String(result?.rows[0]?.[0]);
  return found === "ok" ? null : found;
}

import type { Driver } from "./driver/driver.ts";

/**
 * Checks that the database would accept a write, and writes nothing.
 *
 * @returns The version of its SQLite.
 * @throws {LedgerError} With the reason when it takes none.
 */
export async function requireWritable(driver: Driver): Promise<string> {
  // The lock that a write takes.
  const [answer] = await driver.batch([{
    sql: "SELECT sqlite_version()",
    args: [],
  }], "write");
  return String(answer?.rows[0]?.[0]);
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

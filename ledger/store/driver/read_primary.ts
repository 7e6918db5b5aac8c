import type { Driver, ResultSet, Statement } from "./driver.ts";

/**
 * Reads what is stored now. A replica may be behind, and what it does not have
 * yet must not be taken for what is not there.
 *
 * @param driver The database.
 * @param statements What is read.
 */
export function readPrimary(
  driver: Driver,
  statements: readonly Statement[],
): Promise<ResultSet[]> {
  return driver.batch(
    statements,
    driver.location === "remote" ? "write" : "read",
  );
}

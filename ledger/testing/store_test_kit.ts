import type { Driver, SqlValue } from "../store/database.ts";
import { openMemoryLedger } from "../open_ledger.ts";

/** When every test begins. */
export const startMs = Date.parse("2026-11-20T12:00:00.000Z");

/** A database with every table; no process projects it. */
export async function storeOnly(): Promise<Driver> {
  return await openMemoryLedger({
    environment: "sandbox",
    now: () => startMs,
  });
}

/** Rows of one query. */
export async function rows(
  driver: Driver,
  sql: string,
  ...args: readonly SqlValue[]
): Promise<readonly (readonly SqlValue[])[]> {
  const [found] = await driver.batch([{ sql, args }], "read");
  return found?.rows ?? [];
}

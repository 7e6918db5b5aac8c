import type { Driver, SqlValue } from "../store/driver/driver.ts";
import { migrate } from "../store/migrate.ts";
import { migrations } from "../store/migrations.ts";
import { openDriver } from "../store/connections/open_driver.ts";

/** When every test begins. */
export const startMs = Date.parse("2026-11-20T12:00:00.000Z");

/** A database with every table; no process projects it. */
export async function storeOnly(): Promise<Driver> {
  const driver = await openDriver({ url: ":memory:" });
  await migrate(driver, {
    migrations,
    environment: "sandbox",
    now: () => startMs,
  });
  return driver;
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

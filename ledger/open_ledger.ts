import { anchorFile } from "./evidence/anchor_file.ts";
import type { Ledger } from "./ledger.ts";
import { ledgerOn, type LedgerOptions } from "./ledger_on.ts";
import { databaseFile } from "./store/driver/database_url.ts";
import {
  openDriver,
  type OpenDriverOptions,
} from "./store/driver/open_driver.ts";

/** Which ledger to open, and how. */
export interface OpenLedgerOptions extends LedgerOptions, OpenDriverOptions {}

/**
 * Opens a ledger: creates its tables when it is new, brings those of an older
 * version up to date, and checks that it belongs to the environment.
 *
 * @param options Which ledger, and how.
 * @throws {TypeError} When a new ledger has no environment.
 * @throws {LedgerError} `not_a_database`, `not_a_ledger`, `newer_schema`,
 * `wrong_environment`, `unauthorised`, `unreachable` and others.
 *
 * @example Open a ledger in memory
 * ```ts
 * import { openLedger } from "@rampkit/onramp/ledger";
 * import assert from "node:assert/strict";
 *
 * await using ledger = await openLedger({
 *   url: ":memory:",
 *   environment: "sandbox",
 * });
 * assert.equal((await ledger.stats()).orders, 0);
 * ```
 */
export async function openLedger(options: OpenLedgerOptions): Promise<Ledger> {
  const driver = await openDriver(options);
  try {
    const file = databaseFile(options.url);
    return await ledgerOn(driver, {
      ...(file === null ? {} : { anchorStore: anchorFile(file) }),
      ...options,
    });
  } catch (error) {
    await driver.close();
    throw error;
  }
}

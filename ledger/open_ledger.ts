/** Opens a ledger: in a file that a thread owns, in memory, at a server, or behind a client. */
import { requireExactJson } from "../core/json/json.ts";
import { databaseFile } from "./store/connections/database_url.ts";
import {
  openClient,
  type OpenClientOptions,
} from "./store/connections/client_driver.ts";
import { openDriver, type OpenDriverOptions } from "./thread/open_driver.ts";
import { cryptoBytes } from "./store/events.ts";
import { type Driver, failedWith } from "./store/database.ts";
import type { Ledger } from "./ledger.ts";
import { ledgerOn } from "./ledger_on.ts";
import { FOLD } from "./projection/project.ts";
import {
  createLedger,
  type CreateOptions,
  type LedgerOptions,
  readStamp,
} from "./store/create.ts";

/** Which ledger to open, and how. */
export interface OpenLedgerOptions extends LedgerOptions, OpenDriverOptions {}

/** The same for a ledger behind a client of your own. */
export interface ClientLedgerOptions extends LedgerOptions, OpenClientOptions {}

/**
 * Opens a ledger, and makes one where there is none.
 *
 * @throws {LedgerError} When the database cannot be opened, or holds something else.
 */
export async function openLedger(
  options: OpenLedgerOptions | ClientLedgerOptions,
): Promise<Ledger> {
  requireExactJson("open the ledger");
  if (!("client" in options)) await refuseOtherSchema(options);
  const driver = "client" in options
    ? await openClient(options)
    : await openDriver(options);
  try {
    const database = "client" in options ? null : databaseFile(options.url);
    return await ledgerOn(driver, { ...options, database });
  } catch (error) {
    await driver.close();
    throw error;
  }
}

/** Opening a file for writing may change it, so it is looked at before. */
async function refuseOtherSchema(options: OpenLedgerOptions): Promise<void> {
  if (databaseFile(options.url) === null || options.readOnly) return;
  const looking = { ...options, worker: false, readOnly: true };
  try {
    const driver = await openDriver(looking);
    await readStamp(driver).finally(() => driver.close());
  } catch (error) {
    // A new file is made by what opens it next, or that says why not.
    if (failedWith(error, "cannot_open")) return;
    throw error;
  }
}

/** Opens a new ledger in memory. */
export async function openMemoryLedger(
  options: Partial<CreateOptions> & { readonly environment: string },
): Promise<Driver> {
  const driver = await openDriver({ url: ":memory:", worker: false });
  await createLedger(driver, {
    foldVersion: FOLD.version,
    now: Date.now,
    randomBytes: cryptoBytes,
    ...options,
  });
  return driver;
}

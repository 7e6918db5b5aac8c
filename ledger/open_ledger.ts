import { requireExactJson } from "../core/json/exact_number.ts";
import { anchorFile } from "./evidence/anchor_file.ts";
import type { Ledger } from "./ledger.ts";
import { ledgerOn, type LedgerOptions } from "./ledger_on.ts";
import { databaseFile } from "./store/connections/database_url.ts";
import { LedgerError } from "./store/driver/errors.ts";
import { requireSchema } from "./store/stamp.ts";
import {
  openClient,
  type OpenClientOptions,
} from "./store/connections/open_client.ts";
import {
  openDriver,
  type OpenDriverOptions,
} from "./store/connections/open_driver.ts";

/** Which ledger to open, and how. */
export interface OpenLedgerOptions extends LedgerOptions, OpenDriverOptions {}

/** The same for a ledger behind a client of your own. */
export interface ClientLedgerOptions extends LedgerOptions, OpenClientOptions {}

/**
 * Opens a ledger: creates its tables when it is new, and checks that it has those
 * of this version and belongs to the environment. A ledger of another version is
 * refused, and nothing is written.
 *
 * A file is best opened by `url`: through a client every batch blocks the
 * caller's thread, the head of the evidence chain is not kept beside the file,
 * and a file that was replaced is not noticed. How each commit is synced is then
 * the client's. A client with `syncUrl` is not supported.
 *
 * @param options Which ledger, by `url` or by `client`, and how.
 * @throws {TypeError} When a new ledger has no environment, the client cannot be
 * used, or the runtime has no exact JSON numbers (Node 20).
 * @throws {LedgerError} `not_a_database`, `not_a_ledger`, `other_schema`,
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
 *
 * @example Open a ledger through a client of your own
 * ```ts
 * import { createClient } from "@libsql/client/web";
 * import { type Ledger, openLedger } from "@rampkit/onramp/ledger";
 * import assert from "node:assert/strict";
 *
 * function openOurs(url: string, authToken: string): Promise<Ledger> {
 *   const client = createClient({ url, authToken });
 *   return openLedger({ client, environment: "sandbox" });
 * }
 * // Nobody listens there.
 * await assert.rejects(openOurs("http://127.0.0.1:1", "a token"));
 * ```
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
    const file = "client" in options ? null : databaseFile(options.url);
    return await ledgerOn(driver, {
      ...(file === null ? {} : { anchorStore: anchorFile(file) }),
      ...options,
    });
  } catch (error) {
    await driver.close();
    throw error;
  }
}

/** Opening a file for writing may change it, so it is looked at before. */
async function refuseOtherSchema(options: OpenLedgerOptions): Promise<void> {
  if (databaseFile(options.url) === null || options.readOnly) return;
  const driver = await openDriver({
    ...options,
    worker: false,
    readOnly: true,
  }).catch((error) => {
    // A new file is made by what opens it next, or that says why not.
    if (error instanceof LedgerError && error.code === "cannot_open") return;
    throw error;
  });
  if (driver === undefined) return;
  try {
    await requireSchema(driver);
  } finally {
    await driver.close();
  }
}

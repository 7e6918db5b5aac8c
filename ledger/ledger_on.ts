/** Opens a ledger on a database that is open. */
import { redactArrivals } from "./erasure/arrivals.ts";
import { HeadAnchor } from "./evidence/anchor_file.ts";
import { Ledger } from "./ledger.ts";
import { FOLD, type FoldCode } from "./projection/project.ts";
import { createLedger, type LedgerOptions } from "./store/create.ts";
import type { Driver } from "./store/database.ts";
import { cryptoBytes } from "./store/events.ts";

/**
 * Opens a ledger on a database that is open. Tests play another version of the fold.
 *
 * @throws {LedgerError} When the database holds something else.
 */
export async function ledgerOn(
  driver: Driver,
  options: LedgerOptions & {
    readonly fold?: FoldCode;
    /** Path of its file; the head of its chain is stored beside it. */
    readonly database?: string | null;
  },
): Promise<Ledger> {
  const { now = Date.now, randomBytes = cryptoBytes, fold = FOLD } = options;
  const { readOnly = false, database = null } = options;
  const { environment, ledgerId } = await createLedger(driver, {
    ...options,
    ...{ foldVersion: fold.version, now, randomBytes },
  });
  const assets = options.assets ??
    (environment === "sandbox" ? "sandbox" : "production");
  const redactNew = redactArrivals({ assets, now, randomBytes });
  const ledger = new Ledger({
    ...{ driver, ledgerId, environment, assets, fold },
    ...{ now, randomBytes, redactNew },
    anchor: database === null
      ? undefined
      : new HeadAnchor({ database, ledgerId, now, readOnly }),
  });
  if (options.goLive !== undefined) await ledger.goLive(options.goLive);
  return ledger;
}

/** Opens a ledger on a database that is open. */
import type { AssetTable } from "../core/assets/environment.ts";
import { redactArrivals } from "./erasure/arrivals.ts";
import { HeadAnchor } from "./evidence/anchor_file.ts";
import { Ledger } from "./ledger.ts";
import { FOLD, type FoldCode } from "./projection/project.ts";
import { createLedger } from "./store/schema.ts";
import type { Driver } from "./store/database.ts";
import { cryptoBytes } from "./store/events.ts";

/** How a ledger is opened, whatever its database. */
export interface LedgerOptions {
  /**
   * Environment the ledger belongs to. A new ledger is stamped with it, and
   * opening it with another is refused.
   *
   * @default the ledger's own stamp
   */
  readonly environment?: string;
  /**
   * Environment a new ledger is stamped with when `environment` is left out.
   */
  readonly defaultEnvironment?: string;
  /**
   * Asset table that gives the precision of amounts. Every process that folds
   * the ledger must name the same.
   *
   * @default "sandbox" in the environment `sandbox`, else "production"
   */
  readonly assets?: AssetTable;
  /**
   * Only reads: nothing is created, and every write fails.
   *
   * @default false
   */
  readonly readOnly?: boolean;
  /**
   * Time from which transitions are sent to handlers and targets, UTC ISO 8601:
   * what ended before is logged and booked, but not sent. A ledger that went
   * live at another time is refused.
   *
   * @default when a poller or an endpoint first works on it
   */
  readonly goLive?: string;
  /** The clock, in ms. @default Date.now */
  readonly now?: () => number;
  /** Random bytes for salts. @default crypto.getRandomValues */
  readonly randomBytes?: (length: number) => Uint8Array;
  /**
   * Opens it also where a move into it was stopped, to move it in again.
   *
   * @default false
   */
  readonly unfinished?: boolean;
}

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

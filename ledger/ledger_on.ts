import type { AssetTable } from "../core/assets/environment.ts";
import type { AnchorStore } from "./hashes/anchored_head.ts";
import { goLive } from "./go_live.ts";
import { Ledger } from "./ledger.ts";
import type { FoldCode } from "./projection/projector.ts";
import { randomPool } from "./store/random_pool.ts";
import type { Driver } from "./store/driver/driver.ts";
import {
  checkStored,
  type LedgerStamp,
  makeLedger,
  readStamp,
} from "./store/stamp.ts";

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
   * Stores the head of the evidence chain outside the database. A chain that
   * was cut or removed then cannot pass as a new one. {@linkcode openLedger}
   * stores the head of a database file in a second file beside it.
   *
   * @default nowhere
   */
  readonly anchorStore?: AnchorStore;
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
   * The fold; replaced by tests that play another version.
   *
   * @default the fold of this version
   */
  readonly fold?: FoldCode;
}

/**
 * Opens a ledger on a driver: creates its tables when it is new, and checks its
 * schema and environment. This file imports no driver, so that an entry point
 * loads only the driver it uses.
 *
 * @param driver The database; closing the ledger closes it.
 * @param options Environment, clock and randomness.
 * @throws {TypeError} When a new ledger has no environment.
 * @throws {LedgerError} `not_a_ledger`, `other_schema`, `wrong_environment` and
 * others.
 *
 * @example Open a ledger on a remote driver
 * ```ts ignore
 * const ledger = await ledgerOn(new RemoteDriver({ url, authToken }), {
 *   environment: "production",
 * });
 * ```
 */
export async function ledgerOn(
  driver: Driver,
  options: LedgerOptions,
): Promise<Ledger> {
  const now = options.now ?? Date.now;
  const randomBytes = options.randomBytes ?? randomPool();
  const stamp = options.readOnly === true
    ? await checkStored(driver, options.environment)
    : await make(driver, options, { now, randomBytes });
  if (options.goLive !== undefined) {
    await goLive(driver, options.goLive, now());
  }
  const { environment, ledgerId } = stamp;
  return new Ledger({
    driver,
    now,
    randomBytes,
    origin: { environment, ledgerId },
    assets: options.assets ??
      (environment === "sandbox" ? "sandbox" : "production"),
    ...(options.fold && { fold: options.fold }),
    ...(options.anchorStore && { anchorStore: options.anchorStore }),
    ...(options.readOnly && { readOnly: options.readOnly }),
  });
}

async function make(
  driver: Driver,
  options: LedgerOptions,
  world: Pick<Required<LedgerOptions>, "now" | "randomBytes">,
): Promise<LedgerStamp> {
  const environment = options.environment ??
    (await readStamp(driver))?.environment ?? options.defaultEnvironment;
  if (environment === undefined) {
    throw new TypeError(
      "Cannot create a ledger without an environment: pass " +
        '`environment`, for example "sandbox"',
    );
  }
  return await makeLedger(driver, { environment, ...world });
}

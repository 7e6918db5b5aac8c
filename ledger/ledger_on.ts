import type { AssetTable } from "../client/environment.ts";
import { Ledger } from "./ledger.ts";
import { migrations } from "./migrations.ts";
import type { FoldCode } from "./projection/projector.ts";
import { randomPool } from "./projection/random_pool.ts";
import type { Driver } from "./store/driver.ts";
import { migrate, readStamp } from "./store/migrate.ts";

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
 * Opens a ledger on a driver: creates its tables when they are missing, brings
 * older ones up to date, and checks the environment. This file names no
 * driver, so that an entry which knows its own loads no other.
 *
 * @param driver The database; closing the ledger closes it.
 * @param options Environment, clock and randomness.
 * @throws {TypeError} When a new ledger has no environment.
 * @throws {LedgerError} `not_a_ledger`, `newer_schema`, `wrong_environment` and
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
  const environment = options.environment ??
    (await readStamp(driver))?.environment ?? options.defaultEnvironment;
  if (environment === undefined) {
    throw new TypeError(
      "Cannot create a ledger without an environment: pass " +
        '`environment`, for example "sandbox"',
    );
  }
  const stamp = await migrate(driver, {
    migrations,
    environment,
    now,
    randomBytes,
  });
  return new Ledger({
    driver,
    now,
    randomBytes,
    origin: { environment, ledgerId: stamp.ledgerId },
    assets: options.assets ??
      (environment === "sandbox" ? "sandbox" : "production"),
    ...(options.fold && { fold: options.fold }),
  });
}

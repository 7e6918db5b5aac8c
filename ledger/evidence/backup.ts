import { open } from "node:fs/promises";
import type { Driver } from "../store/driver.ts";
import { LedgerError } from "../store/errors.ts";
import { type LedgerStamp, migrate, type Migration } from "../store/migrate.ts";
import { openDriver } from "../store/open_driver.ts";
import { extendChain } from "./chain_projection.ts";
import { exportLedger } from "./export.ts";
import { importLedger } from "./import.ts";

/** What a backup is made of, and where it goes. */
export interface BackupOptions {
  /** The live ledger. */
  readonly driver: Driver;
  /** What is written on it. */
  readonly stamp: LedgerStamp;
  /** Path of the copy, a file that does not exist yet. */
  readonly path: string;
  /** Steps of the schema, for the copy of a remote ledger. */
  readonly migrations: readonly Migration[];
  /** The clock, in ms. */
  readonly now: () => number;
}

/**
 * Copies a ledger into a new file while it is in use. The copy of a local
 * ledger is one moment of it, read models and all; that of a remote ledger
 * holds the events and their chain, and is projected when it is opened.
 *
 * @param options The ledger, and where the copy goes.
 * @throws {LedgerError} When the file exists or cannot be written.
 *
 * @example Copy a ledger
 * ```ts ignore
 * await backupLedger({ driver, stamp, path: "copy.db", migrations, now: Date.now });
 * ```
 */
export async function backupLedger(options: BackupOptions): Promise<void> {
  const { driver, path } = options;
  await refuseExisting(path);
  if (driver.location !== "remote" && driver.copyTo !== undefined) {
    await driver.copyTo(path);
    await sync(path);
    return;
  }
  const { stamp, migrations, now } = options;
  const copy = await openDriver({ url: `file:${encodeURI(path)}` });
  try {
    const { environment } = stamp;
    await migrate(copy, { migrations, environment, now });
    await importLedger(copy, stamp, exportLedger(driver, stamp));
    await extendChain(copy, stamp);
  } finally {
    await copy.close();
  }
}

async function refuseExisting(path: string): Promise<void> {
  try {
    await (await open(path, "r")).close();
  } catch {
    return;
  }
  throw new LedgerError(
    "cannot_open",
    `Cannot back up to ${path}: the file exists; choose another path`,
  );
}

/** `VACUUM INTO` leaves the new file to the operating system's cache. */
async function sync(path: string): Promise<void> {
  const file = await open(path, "r+");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

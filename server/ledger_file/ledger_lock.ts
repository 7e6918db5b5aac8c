import { readFileSync, rmSync, writeFileSync } from "node:fs";
import process from "node:process";
import { defined } from "../../core/guards.ts";
import { sleep } from "../../core/waiting/waiting.ts";
import {
  fileId,
  type FileLockMode,
  lockFile,
} from "../../ledger/for_ledger_file.ts";
import { databaseFile } from "../../ledger/for_server.ts";
import type { Config } from "../../core/settings/config.ts";
import { CommandError } from "../../core/settings/errors.ts";

/** What `serve` says of itself in a file beside the ledger. */
export interface Holder {
  /** Its process. */
  readonly pid: number;
  /** Device and inode of the database that it has open. */
  readonly database: string;
  /** Where it makes backups, and how often; absent where it makes none. */
  readonly backups?: BackupPlan;
}

/** Where backups are made, and how often. */
export interface BackupPlan {
  /** The folder, by its whole path. */
  readonly directory: string;
  /** From the beginning of one to that of the next, ms. */
  readonly everyMs: number;
}

/** A lock on a ledger's file, which ends with the process at the latest. */
export interface LedgerLock extends Disposable {
  /**
   * Writes down who holds it, once the ledger is open, and where it makes
   * backups.
   */
  announce(backups?: BackupPlan): void;
}

/** What is locked. It is beside the ledger, and it stays. */
const lockPath = (database: string) => `${database}-use`;
/** Where `serve` says who it is. */
const holderPath = (database: string) => `${database}-use.json`;

/**
 * Held while the ledger's file must stay in its place. Any number of processes
 * may hold it. While one does, `ledger restore` is refused.
 *
 * @throws {CommandError} While the file is being replaced.
 */
export async function holdLedger(
  config: Pick<Config, "databaseUrl">,
): Promise<LedgerLock> {
  const database = databaseFile(config.databaseUrl);
  if (database === null) return NO_LOCK;
  // Another `serve` that is at work goes on when this one ends, as one that finds
  // its port taken does at once. What one that was killed left is not kept.
  const before = serving(database);
  let lock: Disposable | null;
  try {
    lock = lockOf(database, "shared");
    for (let left = 5; lock === null && left > 0; left--) {
      // Who only looks whether `serve` runs has it for a moment.
      await sleep(20);
      lock = lockOf(database, "shared");
    }
  } catch {
    return NO_LOCK; // No file can be made: opening the ledger says why.
  }
  if (lock === null) {
    throw new CommandError(
      `Cannot use ${database}: \`ledger restore\` is replacing it, or the ` +
        "ledger is being moved; try again when that has ended",
      "in_use",
    );
  }
  let isAnnounced = false;
  return {
    announce: (backups) => {
      write(
        database,
        defined({ pid: process.pid, database: fileId(database), backups }),
      );
      isAnnounced = true;
    },
    [Symbol.dispose]: () => {
      // One that began later has written its own name.
      if (isAnnounced && read(database)?.pid === process.pid) {
        tellAgain(database, before);
      }
      lock[Symbol.dispose]();
    },
  };
}

/**
 * Held while the ledger's file is replaced, or while the ledger is moved.
 *
 * @throws {CommandError} While anybody holds it.
 */
export function takeLedger(
  database: string,
  work: "replace" | "move" = "replace",
): Disposable {
  let lock: Disposable | null;
  try {
    lock = lockOf(database, "exclusive");
  } catch {
    throw new CommandError(
      `Cannot write ${lockPath(database)}: check that its folder exists and ` +
        "that it may be written",
    );
  }
  if (lock !== null) return lock;
  const holder = read(database);
  throw new CommandError(
    `Cannot ${work} ${database}: it is in use by ${
      holder === null ? "another process" : `serve (process ${holder.pid})`
    }; stop it first`,
    "in_use",
  );
}

/** The process that runs `serve` on the ledger; null when none does. */
export function serving(database: string): Holder | null {
  const last = lastServing(database);
  return last?.isGone === false ? last : null;
}

/**
 * The process that runs `serve` on the ledger, or that did and has ended without
 * stopping: one that was killed has left its file. Null where there is none.
 */
export function lastServing(
  database: string,
): Holder & { readonly isGone: boolean } | null {
  const holder = read(database);
  if (holder === null) return null;
  try {
    using lock = lockOf(database, "exclusive");
    return { ...holder, isGone: lock !== null };
  } catch {
    return null;
  }
}

const NO_LOCK: LedgerLock = { announce: () => {}, [Symbol.dispose]: () => {} };

function lockOf(database: string, mode: FileLockMode): Disposable | null {
  return lockFile(lockPath(database), mode);
}

/** Names the process that held it before, if any. */
function tellAgain(database: string, before: Holder | null): void {
  if (before === null || before.pid === process.pid) {
    rmSync(holderPath(database), { force: true });
  } else write(database, before);
}

function write(database: string, holder: Holder): void {
  writeFileSync(holderPath(database), JSON.stringify(holder), { mode: 0o600 });
}

/** Null where nothing, or something else, is written there. */
function read(database: string): Holder | null {
  try {
    return JSON.parse(readFileSync(holderPath(database), "utf8"));
  } catch {
    return null;
  }
}

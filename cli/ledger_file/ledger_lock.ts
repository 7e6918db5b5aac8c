import { fileId } from "../../ledger/store/driver/file_identity.ts";
import { databaseFile } from "../../ledger/store/driver/database_url.ts";
import type { Config } from "../program/config.ts";
import { CommandError } from "../program/exit_codes.ts";

/** What `serve` says of itself in the lock's file. */
export interface Holder {
  /** Its process. */
  readonly pid: number;
  /** Device and inode of the database that it has open. */
  readonly database: string;
}

/** A lock on a ledger's file, which ends with the process at the latest. */
export interface LedgerLock extends Disposable {
  /** Says who holds it, once the ledger is open. */
  tell(): void;
}

/**
 * The lock of a ledger in a file is an advisory one on a file beside it, which
 * the system lets go of when a process dies. The file stays: removing it would
 * let two processes each hold a lock on a file of that name.
 */
const lockPath = (database: string) => `${database}-lock`;

/**
 * Held while the ledger's file must stay in its place. Any number of processes
 * may hold it. While one does, `ledger restore` is refused.
 *
 * @throws {CommandError} While the file is being replaced.
 */
export function holdLedger(config: Pick<Config, "databaseUrl">): LedgerLock {
  const database = databaseFile(config.databaseUrl);
  const file = database === null ? null : openLock(database);
  if (database === null || file === null) return NO_LOCK;
  if (!file.tryLockSync(false)) {
    file.close();
    throw new CommandError(
      `Cannot use ${database}: \`ledger restore\` is replacing it; ` +
        "try again when that has ended",
    );
  }
  let told = false;
  return {
    tell: () => {
      const holder: Holder = { pid: Deno.pid, database: fileId(database) };
      write(file, JSON.stringify(holder));
      told = true;
    },
    [Symbol.dispose]: () => {
      if (told) write(file, "");
      file.close();
    },
  };
}

/**
 * Held while the ledger's file is replaced.
 *
 * @throws {CommandError} While anybody holds it.
 */
export function takeLedger(database: string): Disposable {
  const file = openLock(database);
  if (file === null) {
    throw new CommandError(
      `Cannot write ${lockPath(database)}: check that its folder exists and ` +
        "that it may be written",
    );
  }
  if (file.tryLockSync(true)) return file;
  const holder = read(file);
  file.close();
  throw new CommandError(
    `Cannot replace ${database}: it is in use by ${
      holder === null ? "another process" : `serve (process ${holder.pid})`
    }; stop it first`,
  );
}

/** The process that runs `serve` on the ledger; null when none does. */
export function serving(database: string): Holder | null {
  let file: Deno.FsFile;
  try {
    file = Deno.openSync(lockPath(database), { read: true, write: true });
  } catch {
    return null;
  }
  try {
    return file.tryLockSync(true) ? null : read(file);
  } finally {
    file.close();
  }
}

const NO_LOCK: LedgerLock = { tell: () => {}, [Symbol.dispose]: () => {} };

/** Null where no file can be made: then opening the ledger says why. */
function openLock(database: string): Deno.FsFile | null {
  try {
    return Deno.openSync(lockPath(database), {
      read: true,
      write: true,
      create: true,
      mode: 0o600,
    });
  } catch {
    return null;
  }
}

function write(file: Deno.FsFile, text: string): void {
  file.truncateSync(0);
  file.seekSync(0, Deno.SeekMode.Start);
  file.writeSync(new TextEncoder().encode(text));
}

function read(file: Deno.FsFile): Holder | null {
  const bytes = new Uint8Array(1024);
  const length = file.readSync(bytes) ?? 0;
  try {
    return JSON.parse(new TextDecoder().decode(bytes.subarray(0, length)));
  } catch {
    return null; // Held by another command, or not told yet.
  }
}

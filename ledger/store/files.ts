/** The files of a database: which they are, locked by whom, and replaced by others. */
import {
  chmodSync,
  closeSync,
  existsSync,
  fchmodSync,
  fsyncSync,
  linkSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname } from "node:path";
import { fromSqlite, LedgerError } from "./database.ts";
import { Sqlite, SqliteError } from "../../core/sqlite.ts";

/** By device and inode. */
export interface FileIdentity {
  readonly database: string;
  readonly bytes: bigint;
  readonly log: string;
  /** Path of the log: beside the file that the database's path links to. */
  readonly logPath: string;
}

const MISSING = "missing";

export function fileId(path: string): string {
  return look(path).id;
}

function look(path: string) {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined
    ? { id: MISSING, bytes: 0n }
    : { id: `${found.dev}:${found.ino}`, bytes: found.size };
}

export function identify(path: string): FileIdentity {
  const logPath = `${realPath(path)}-wal`;
  const { id, bytes } = look(path);
  return { database: id, bytes, log: fileId(logPath), logPath };
}

/**
 * Compares the files at `path` with those that were opened. Data written to a
 * removed file is lost when the process ends, and SQLite reports no error. The
 * database shrinks during use only when another file is copied over it.
 *
 * @throws {LedgerError} `replaced` when they are not the same.
 */
export function checkIdentity(
  path: string,
  opened: FileIdentity,
): FileIdentity {
  const { id, bytes } = look(path);
  if (id !== opened.database) throw replaced(path, id);
  if (bytes < opened.bytes) throw replaced(path, id, "overwritten");
  if (opened.log === MISSING) return identify(path);
  checkFile(opened.logPath, opened.log);
  return bytes === opened.bytes ? opened : { ...opened, bytes };
}

export function checkFile(path: string, opened: string): void {
  const now = fileId(path);
  if (now !== opened) throw replaced(path, now);
}

function replaced(
  path: string,
  now: string,
  how: string = now === MISSING ? "removed" : "replaced",
): LedgerError {
  return new LedgerError(
    "replaced",
    `${path} was ${how} while the ledger was in use, so nothing more is ` +
      "written to it; put the ledger in its place with `ledger restore`, " +
      "then start this process again",
  );
}

/** SQLite gives its log and its index the permissions of the database. */
export function createPrivate(path: string): void {
  try {
    const file = openSync(path, "wx", 0o600);
    try {
      // The process's umask may have taken the owner's permissions too.
      fchmodSync(file, 0o600);
    } finally {
      closeSync(file);
    }
  } catch {
    // It exists already, or SQLite says why it cannot be opened.
  }
}

export function dropLog(path: string): void {
  for (const end of ["-wal", "-shm"]) rmSync(path + end, { force: true });
}

/** Has the disk hold what was written to a file, or which files a folder has. */
export function sync(path: string, flags: "r" | "r+" = "r"): void {
  const file = openSync(path, flags);
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // It is missing.
  }
}

interface ReplaceOptions {
  /** Path of the database in use; it may be missing. */
  readonly path: string;
  /** Path of a closed database in the same folder; it is moved. */
  readonly by: string;
  /** Path in the same folder where the old one is kept. */
  readonly previousFile: string;
}

/**
 * Replaces one database file by another in one step. A process that opens `path`,
 * even after a crash in between, finds the old file or the new file, never one file
 * with the log of the other.
 *
 * @throws {LedgerError} `busy` when another connection has the old file open.
 */
export function replaceDatabase(options: ReplaceOptions): boolean {
  const path = realPath(options.path);
  const { by, previousFile } = options;
  const log = statSync(`${by}-wal`, { throwIfNoEntry: false });
  if (log !== undefined && log.size > 0) {
    throw new LedgerError(
      "failed",
      `Cannot use ${by} as the ledger: a part of it is in its log; close it first`,
    );
  }
  if (!existsSync(path)) {
    // SQLite would take a log without its database as the log of the new file.
    dropLog(path);
    move(by, path);
    return false;
  }
  chmodSync(path, 0o600);
  linkSync(path, previousFile);
  // SQLite removes a log that it cannot read; here it may be evidence.
  if (existsSync(`${path}-wal`)) linkSync(`${path}-wal`, `${previousFile}-wal`);
  let held: Sqlite | null;
  try {
    held = takeAlone(path);
  } catch (error) {
    rmSync(previousFile, { force: true });
    rmSync(`${previousFile}-wal`, { force: true });
    throw error;
  }
  try {
    // The log was written back, so the old database is complete without it.
    if (held !== null) rmSync(`${previousFile}-wal`, { force: true });
    sync(dirname(path));
    dropLog(path);
    move(by, path);
  } finally {
    // Without this, the file may stay open until the next garbage collection.
    held?.exec("ROLLBACK");
    held?.close();
  }
  return true;
}

/**
 * SQLite leaves the write-ahead log mode only while no other connection exists in any
 * program; then the log is written back. Null when the file is too damaged for that.
 */
function takeAlone(path: string): Sqlite | null {
  let database: Sqlite | null = null;
  try {
    database = new Sqlite(path);
    database.exec("PRAGMA busy_timeout = 1000");
    database.all("PRAGMA journal_mode = DELETE");
    database.exec("BEGIN EXCLUSIVE");
    return database;
  } catch (error) {
    database?.close();
    const said = fromSqlite(error, path);
    if (said.code !== "busy") return null;
    throw new LedgerError(
      "busy",
      `Cannot replace ${path}: another process has it open; stop it first`,
      { cause: error },
    );
  }
}

function move(by: string, path: string): void {
  renameSync(by, path);
  sync(dirname(path));
  dropLog(by);
}

export type FileLockMode = "shared" | "exclusive";

/**
 * Locks a file that holds nothing, as SQLite locks its databases: the system lets
 * go of the lock when the process ends, and every runtime sees it. The file stays:
 * removing it would let two processes each hold a lock on a file of that name.
 */
export function lockFile(path: string, mode: FileLockMode): Disposable | null {
  // Closing a file lets go of every lock that its process has on it.
  if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
  const database = new Sqlite(path);
  try {
    database.exec(mode === "shared" ? "BEGIN" : "BEGIN EXCLUSIVE");
    // The first read is what locks it.
    database.all("SELECT count(*) FROM sqlite_schema");
  } catch (error) {
    database.close();
    if (error instanceof SqliteError && error.code === "SQLITE_BUSY") {
      return null;
    }
    throw error;
  }
  return {
    [Symbol.dispose]: () => {
      // Closing alone lets go of it only once the statement is collected.
      database.exec("ROLLBACK");
      database.close();
    },
  };
}

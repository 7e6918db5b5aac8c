import {
  closeSync,
  fchmodSync,
  fsyncSync,
  openSync,
  realpathSync,
  rmSync,
  statSync,
} from "node:fs";
import { LedgerError } from "../driver/errors.ts";

/** Which files a connection has open, by device and inode. */
export interface FileIdentity {
  readonly database: string;
  /** Size of the database. */
  readonly bytes: bigint;
  readonly log: string;
  /** Path of the log: beside the file that the database's path links to. */
  readonly logPath: string;
}

const MISSING = "missing";

/**
 * Device and inode of a file, such as `2049:131`; `missing` where there is
 * none.
 */
export function fileId(path: string): string {
  return look(path).id;
}

function look(path: string): { id: string; bytes: bigint } {
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

/** @throws {LedgerError} `replaced` when the file is not the one that was opened. */
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

/**
 * Creates an empty file that only its owner may read, if it is missing. SQLite
 * gives its log and its index the permissions of the database. Errors are
 * ignored here: SQLite reports them when it opens the file.
 */
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
    // The file exists already or cannot be created.
  }
}

/** Removes the log of a database, and its index. */
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

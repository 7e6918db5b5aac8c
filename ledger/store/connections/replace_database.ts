import {
  chmodSync,
  existsSync,
  linkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname } from "node:path";
import { Sqlite } from "../../../core/sqlite.ts";
import { fromSqlite } from "../driver/sqlite_errors.ts";
import { LedgerError } from "../driver/errors.ts";
import { dropLog, sync } from "./file_identity.ts";

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
  const path = existsSync(options.path)
    ? realpathSync(options.path)
    : options.path;
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
 * Opens the database for exclusive use, and writes back and removes its log. SQLite
 * leaves the write-ahead log mode only while no other connection exists in any
 * program. Null when the file is too damaged for that.
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

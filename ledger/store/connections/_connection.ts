import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  rmSync,
  statSync,
} from "node:fs";
import Database from "libsql";
import type { ConnectionOptions } from "./database_url.ts";
import {
  isQuery,
  type ResultSet,
  type SqlValue,
  type Statement,
} from "../driver/driver.ts";
import {
  checkFile,
  checkIdentity,
  createPrivate,
  fileId,
  type FileIdentity,
  identify,
} from "./file_identity.ts";
import { fromSqlite } from "../driver/sqlite_errors.ts";
import { LedgerError } from "../driver/errors.ts";

/**
 * One synchronous connection to a local database.
 *
 * After any error except a refused row, the connection is closed and opened
 * again before the next batch. A statement left open by `SQLITE_BUSY` would
 * make later writes look done and then roll them back. A memory database exists
 * only in its connection, so it is rolled back instead.
 */
export class Connection {
  readonly #options: ConnectionOptions;
  #database: Database.Database | null = null;
  #queryOnly = false;
  #prepared = new Map<string, Prepared>();
  /** The files that are open; null in memory, and before the first opening. */
  #files: FileIdentity | null = null;
  /** Set, and never cleared, once the file is not the one that was opened. */
  #replaced: LedgerError | null = null;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** Runs the statements in one transaction. */
  batch(statements: readonly Statement[], mode: "read" | "write"): ResultSet[] {
    let step = 0;
    if (this.#replaced !== null) throw this.#replaced;
    try {
      const database = this.#database ??= this.#open();
      const reads = mode === "read" || this.#options.readOnly === true;
      this.#guard(database, reads && !statements.every(isQuery));
      database.exec(mode === "write" ? "BEGIN IMMEDIATE" : "BEGIN");
      const results: ResultSet[] = [];
      for (; step < statements.length; step++) {
        results.push(this.#run(database, statements[step] as Statement));
      }
      database.exec("COMMIT");
      // Checked last: a file that is replaced after this contains the commit.
      if (mode === "write") this.#checkFiles();
      return results;
    } catch (error) {
      throw this.#recover(error, statements[step]);
    }
  }

  /** Copies the database as it is at one moment into a new file. */
  copyTo(path: string): void {
    const statement = { sql: "VACUUM INTO ?", args: [path] };
    if (this.#replaced !== null) throw this.#replaced;
    if (existsSync(path)) {
      throw new LedgerError(
        "cannot_open",
        `Cannot copy to ${path}: the file exists; choose another path`,
      );
    }
    try {
      const database = this.#database ??= this.#open();
      this.#guard(database, false);
      createPrivate(path);
      this.#run(database, statement);
      this.#checkFiles();
    } catch (error) {
      rmSync(path, { force: true }); // The file is new, and incomplete.
      throw this.#recover(error, statement);
    }
    sync(path);
  }

  /**
   * Writes the database anew, so that no page holds what was deleted from it,
   * and empties the log.
   */
  vacuum(): void {
    const statement = { sql: "VACUUM", args: [] };
    if (this.#replaced !== null) throw this.#replaced;
    try {
      const database = this.#database ??= this.#open();
      this.#guard(database, false);
      const { path } = this.#options;
      if (path === ":memory:") return void database.exec(statement.sql);
      vacuumInPlace(database, path);
      if (!emptyLogOf(database)) {
        throw new LedgerError(
          "busy",
          `Cannot empty the log of ${this.#options.path}: another process ` +
            "reads it",
        );
      }
      this.#checkFiles();
    } catch (error) {
      throw this.#recover(error, statement);
    }
  }

  /** Empties the log; false while others read it. */
  emptyLog(): boolean {
    if (this.#replaced !== null) throw this.#replaced;
    try {
      const database = this.#database ??= this.#open();
      this.#guard(database, false);
      return this.#options.path === ":memory:" || emptyLogOf(database);
    } catch (error) {
      throw this.#recover(error, undefined);
    }
  }

  #checkFiles(): void {
    if (this.#files === null) return;
    this.#files = checkIdentity(this.#options.path, this.#files);
  }

  /** Leaves one complete file, which can be copied without its log. */
  close(): void {
    try {
      const { path, readOnly } = this.#options;
      if (path !== ":memory:" && readOnly !== true) {
        this.#database?.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      }
    } catch {
      // The next process that opens the file does the same.
    }
    this.#disconnect();
  }

  #disconnect(): void {
    this.#prepared.clear();
    this.#database?.close();
    this.#database = null;
    this.#queryOnly = false;
  }

  /**
   * Stops a read batch from changing anything. Each change of this setting makes
   * SQLite compile every prepared statement again.
   */
  #guard(database: Database.Database, queryOnly: boolean): void {
    if (this.#queryOnly === queryOnly) return;
    database.exec(`PRAGMA query_only = ${queryOnly ? 1 : 0}`);
    this.#queryOnly = queryOnly;
  }

  #open(): Database.Database {
    const { path, busyTimeoutMs, maxPages, readOnly = false } = this.#options;
    if (readOnly && !existsSync(path)) {
      throw new LedgerError(
        "cannot_open",
        `Cannot read ${path}: the file does not exist`,
      );
    }
    const writes = path !== ":memory:" && !readOnly;
    const found = writes ? this.#beforeOpening(path) : null;
    const database = new Database(path, { timeout: busyTimeoutMs });
    try {
      database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
      // What is deleted is overwritten: somebody may have asked for it.
      database.exec("PRAGMA secure_delete = ON");
      if (found !== null) {
        const mode = database.prepare("PRAGMA journal_mode = WAL").raw(true)
          .get() as unknown;
        if (!Array.isArray(mode) || mode[0] !== "wal") {
          throw new LedgerError(
            "cannot_open",
            `Cannot use ${path} as a ledger: the file system does not allow ` +
              `write-ahead logging (journal mode stays ${
                JSON.stringify(mode)
              })`,
          );
        }
        database.exec("PRAGMA synchronous = FULL");
        // Two megabytes, the default, make appends to a large ledger slower; what
        // a flood makes it hold beyond this, `serve` never gives back.
        database.exec("PRAGMA cache_size = -8192");
        // Twice the default: pages that change often are copied back less often,
        // and no commit waits long for the copy.
        database.exec("PRAGMA wal_autocheckpoint = 2000");
        checkFile(path, found);
        // The log is a new file whenever the last connection was closed before.
        this.#files = identify(path);
      }
      if (maxPages !== undefined) {
        database.prepare(`PRAGMA max_page_count = ${maxPages}`).get();
      }
      return database;
    } catch (error) {
      database.close();
      throw error;
    }
  }

  /** A file that appeared while the connection was closed is another ledger. */
  #beforeOpening(path: string): string {
    if (this.#files === null) createPrivate(path);
    else checkFile(path, this.#files.database);
    return fileId(path);
  }

  #run(database: Database.Database, { sql, args }: Statement): ResultSet {
    let prepared = this.#prepared.get(sql);
    if (prepared === undefined) {
      prepared = prepare(database, sql);
      if (this.#prepared.size >= MOST_PREPARED) this.#prepared.clear();
      this.#prepared.set(sql, prepared);
    }
    const { statement, columns } = prepared;
    const bound = args.map(bindable);
    if (columns.length === 0) {
      return {
        columns,
        rows: [],
        rowsAffected: statement.run(bound).changes,
      };
    }
    const rows = statement.all(bound) as SqlValue[][];
    return { columns, rows, rowsAffected: 0 };
  }

  /** Rolls back or closes the connection, and returns the error. */
  #recover(error: unknown, statement: Statement | undefined): LedgerError {
    this.#prepared.clear();
    let undone = false;
    try {
      // Closing is not enough: statements that are not yet garbage collected
      // keep the connection open, with its transaction and its lock.
      if (this.#database?.inTransaction) this.#database.exec("ROLLBACK");
      undone = true;
    } catch {
      // The state of this connection is unknown.
    }
    const said = fromSqlite(error, this.#options.path, statement);
    // Permanent: the file may hold another ledger. This process does not know
    // the environment or the chain of that ledger.
    if (said.code === "replaced") this.#replaced = said;
    const usable = undone &&
      (said.code === "constraint" || said.code === "conflict");
    if (!usable && this.#options.path !== ":memory:") this.#disconnect();
    return said;
  }
}

/**
 * Vacuums a file that other processes may have open. The file must not shrink:
 * to them that means that another file was copied over it. So it is filled up
 * with zeros first, by as much as a copy shows that it would shrink.
 */
function vacuumInPlace(database: Database.Database, path: string): void {
  const pragma = (name: string): number =>
    Number(
      (database.prepare(`PRAGMA ${name}`).raw(true).get() as unknown[])[0],
    );
  database.exec("DROP TABLE IF EXISTS vacuum_filler");
  const pages = pragma("page_count");
  const pageBytes = pragma("page_size");
  const copy = `${path}.vacuum`;
  rmSync(copy, { force: true });
  createPrivate(copy);
  let copyBytes = 0;
  try {
    database.prepare("VACUUM INTO ?").run([copy]);
    copyBytes = statSync(copy).size;
  } finally {
    rmSync(copy, { force: true });
  }
  // Others may delete meanwhile.
  const spare = Math.ceil(pages / 50) + 256;
  let bytes = (pages + spare) * pageBytes - copyBytes;
  database.exec("CREATE TABLE vacuum_filler (zeros BLOB NOT NULL)");
  const fill = database.prepare(
    "INSERT INTO vacuum_filler VALUES (zeroblob(?))",
  );
  for (; bytes > 0; bytes -= MOST_ZEROS) {
    fill.run([BigInt(Math.min(bytes, MOST_ZEROS))]);
  }
  database.exec("VACUUM");
  database.exec("DROP TABLE vacuum_filler");
}

/** Copies the log into the database and cuts it; false while others read it. */
function emptyLogOf(database: Database.Database): boolean {
  const [busy] = database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").raw(true)
    .get() as number[];
  return busy === 0;
}

/** Statements that are kept compiled; a process uses about two hundred. */
const MOST_PREPARED = 500;

/** Most bytes of one row of zeros. */
const MOST_ZEROS = 64 << 20;

/** `VACUUM INTO` leaves the new file to the operating system's cache. */
function sync(path: string): void {
  const file = openSync(path, "r+");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

interface Prepared {
  readonly statement: Database.Statement;
  readonly columns: readonly string[];
}

function prepare(database: Database.Database, sql: string): Prepared {
  const statement = database.prepare(sql);
  if (!statement.reader) return { statement, columns: [] };
  const columns = statement.columns().map((column) => column.name);
  return { statement: statement.raw(true), columns };
}

/** The binding would send every number as a float. */
function bindable(value: SqlValue): SqlValue {
  return Number.isSafeInteger(value) ? BigInt(value as number) : value;
}

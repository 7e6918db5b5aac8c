import { closeSync, existsSync, fsyncSync, openSync } from "node:fs";
import Database from "libsql";
import type { ConnectionOptions } from "./connection_options.ts";
import type { ResultSet, SqlValue, Statement } from "./driver.ts";
import { fromSqlite } from "./_sqlite_errors.ts";
import { LedgerError } from "./errors.ts";

/**
 * One synchronous connection to a local database.
 *
 * After any error but a refused row the connection is closed, and opened again
 * before the next batch: a statement left open by `SQLITE_BUSY` would make later writes look
 * done and then roll them back. A memory database lives in its connection, so
 * there a rollback has to do.
 */
export class Connection {
  readonly #options: ConnectionOptions;
  #database: Database.Database | null = null;
  #queryOnly = false;
  #prepared = new Map<string, Prepared>();

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** Runs the statements in one transaction. */
  batch(statements: readonly Statement[], mode: "read" | "write"): ResultSet[] {
    let step = 0;
    try {
      const database = this.#database ??= this.#open();
      this.#guard(database, mode === "read" && !statements.every(isSelect));
      database.exec(mode === "write" ? "BEGIN IMMEDIATE" : "BEGIN");
      const results: ResultSet[] = [];
      for (; step < statements.length; step++) {
        results.push(this.#run(database, statements[step] as Statement));
      }
      database.exec("COMMIT");
      return results;
    } catch (error) {
      throw this.#recover(error, statements[step]);
    }
  }

  /** Copies the database as it is at one moment into a new file. */
  copyTo(path: string): void {
    const statement = { sql: "VACUUM INTO ?", args: [path] };
    if (existsSync(path)) {
      throw new LedgerError(
        "cannot_open",
        `Cannot copy to ${path}: the file exists; choose another path`,
      );
    }
    try {
      const database = this.#database ??= this.#open();
      this.#guard(database, false);
      this.#run(database, statement);
    } catch (error) {
      throw this.#recover(error, statement);
    }
    sync(path);
  }

  /** Leaves the file whole in itself, so that it can be copied as it is. */
  close(): void {
    try {
      if (this.#options.path !== ":memory:") {
        this.#database?.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      }
    } catch {
      // Whoever opens the file next does the same.
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
   * Lets a read batch change nothing. Each change of this makes SQLite compile
   * every prepared statement again.
   */
  #guard(database: Database.Database, queryOnly: boolean): void {
    if (this.#queryOnly === queryOnly) return;
    database.exec(`PRAGMA query_only = ${queryOnly ? 1 : 0}`);
    this.#queryOnly = queryOnly;
  }

  #open(): Database.Database {
    const { path, busyTimeoutMs, maxPages } = this.#options;
    const database = new Database(path, { timeout: busyTimeoutMs });
    try {
      database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
      if (path !== ":memory:") {
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
        // Two megabytes, the default, make appends to a large ledger slower.
        database.exec("PRAGMA cache_size = -65536");
        // Twice the default: pages that many commits change are copied back
        // less often, and no commit waits long for the copying.
        database.exec("PRAGMA wal_autocheckpoint = 2000");
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

  #run(database: Database.Database, { sql, args }: Statement): ResultSet {
    let prepared = this.#prepared.get(sql);
    if (prepared === undefined) {
      prepared = prepare(database, sql);
      if (this.#prepared.size >= 100) this.#prepared.clear();
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

  /** Undoes what is open, and says what went wrong. */
  #recover(error: unknown, statement: Statement | undefined): LedgerError {
    this.#prepared.clear();
    let undone = false;
    try {
      // Closing alone would not do: statements not yet collected keep the
      // connection alive, and with it the transaction and its lock.
      if (this.#database?.inTransaction) this.#database.exec("ROLLBACK");
      undone = true;
    } catch {
      // Nothing can be said of this connection any more.
    }
    const said = fromSqlite(error, this.#options.path, statement?.sql);
    const usable = undone && said.code === "constraint";
    if (!usable && this.#options.path !== ":memory:") this.#disconnect();
    return said;
  }
}

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

/** Whether a statement is one that cannot write. */
function isSelect({ sql }: Statement): boolean {
  return /^\s*SELECT\b/i.test(sql);
}

/** The binding would send every number as a float. */
function bindable(value: SqlValue): SqlValue {
  return Number.isSafeInteger(value) ? BigInt(value as number) : value;
}

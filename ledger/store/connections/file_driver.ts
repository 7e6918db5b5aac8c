import { existsSync, rmSync } from "node:fs";
import {
  isSafeSqlite,
  SAFE_RUNTIMES,
  Sqlite,
  type SqliteStatement,
  sqliteVersion,
} from "../../../core/sqlite.ts";
import {
  CLOSED,
  type Driver,
  failedWith,
  fromSqlite,
  isQuery,
  LedgerError,
  type LedgerErrorCode,
  type ResultSet,
  type Statement,
} from "../database.ts";
import {
  checkFile,
  checkIdentity,
  createPrivate,
  dropLog,
  fileId,
  type FileIdentity,
  identify,
  sync,
} from "../files.ts";

export interface FileOptions {
  /** Of the file, or `:memory:`. */
  readonly path: string;
  /** Waits this long inside SQLite for a lock, in ms. */
  readonly busyTimeoutMs: number;
  /** Opening, closing and batches never change the file. */
  readonly readOnly?: boolean;
  /** Most pages the file may have; for tests of a full disk. */
  readonly maxPages?: number;
  /** @default the version of the runtime's SQLite; for tests of an old one */
  readonly version?: string;
}

/** What a thread that owns a file does for its starter. */
export type Calls = Omit<Required<Driver>, "location">;

/** What the thread is asked; the answers come in the order of the requests. */
export interface Request {
  readonly call: keyof Calls;
  readonly args: readonly unknown[];
  readonly file: FileOptions;
}

/** How work ended. An error crosses threads as plain data. */
export type Outcome =
  | { readonly result: unknown }
  | { readonly code: LedgerErrorCode; readonly message: string };

/**
 * A local database on the calling thread, opened by the first batch.
 *
 * After any error except a refused row, the connection is closed and opened
 * again before the next batch. A statement left open by `SQLITE_BUSY` would
 * make later writes look done and then roll them back. A memory database exists
 * only in its connection, so it is rolled back instead.
 */
export class FileDriver implements Driver {
  readonly location: "file" | "memory";
  readonly #options: FileOptions;
  #database: Sqlite | null = null;
  #queryOnly = false;
  #prepared = new Map<string, SqliteStatement>();
  /** The files that are open; null in memory, and before the first opening. */
  #files: FileIdentity | null = null;
  /** Why nothing is done any more: closed, or the file is another one. */
  #ended: LedgerError | null = null;

  constructor(options: FileOptions) {
    this.location = options.path === ":memory:" ? "memory" : "file";
    this.#options = options;
  }

  batch(
    statements: readonly Statement[],
    mode: "read" | "write",
  ): Promise<ResultSet[]> {
    let step = 0;
    return this.#use((database) => {
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
    }, () => statements[step]);
  }

  async copyTo(path: string): Promise<void> {
    if (this.#ended === null && existsSync(path)) {
      throw new LedgerError(
        "cannot_open",
        `Cannot copy to ${path}: the file exists; choose another path`,
      );
    }
    await this.#use(async (database) => {
      try {
        createPrivate(path);
        await database.copyTo(path);
        using copy = new Sqlite(path);
        // So that it can be read where nothing can be written.
        copy.all("PRAGMA journal_mode = DELETE");
        this.#checkFiles();
      } catch (error) {
        // The file is new, and incomplete.
        rmSync(path, { force: true });
        dropLog(path);
        const said = fromSqlite(error, path);
        throw failedWith(said, "cannot_open", "full") ? said : error;
      }
    });
    // Copying leaves the new file to the operating system's cache.
    sync(path, "r+");
  }

  vacuum(): Promise<void> {
    return this.#use((database) => {
      this.#guard(database, false);
      rewriteTables(database);
      if (!emptyLogOf(database)) {
        throw new LedgerError(
          "busy",
          `Cannot empty the log of ${this.#options.path}: another process ` +
            "reads it",
        );
      }
      this.#checkFiles();
    });
  }

  emptyLog(): Promise<boolean> {
    return this.#use((database) => {
      this.#guard(database, false);
      return emptyLogOf(database);
    });
  }

  /** Leaves one complete file, which can be copied without its log. */
  close(): Promise<void> {
    this.#ended = new LedgerError("closed", CLOSED);
    try {
      if (this.location === "file" && this.#options.readOnly !== true) {
        this.#database?.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      }
    } catch {
      // The next process that opens the file does the same.
    }
    this.#disconnect();
    return Promise.resolve();
  }

  async #use<Result>(
    work: (database: Sqlite) => Result | Promise<Result>,
    at?: () => Statement | undefined,
  ): Promise<Result> {
    if (this.#ended !== null) throw this.#ended;
    try {
      return await work(this.#database ??= this.#open());
    } catch (error) {
      throw this.#recover(error, at?.());
    }
  }

  #checkFiles(): void {
    if (this.#files === null) return;
    this.#files = checkIdentity(this.#options.path, this.#files);
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
  #guard(database: Sqlite, queryOnly: boolean): void {
    if (this.#queryOnly === queryOnly) return;
    database.exec(`PRAGMA query_only = ${queryOnly ? 1 : 0}`);
    this.#queryOnly = queryOnly;
  }

  #open(): Sqlite {
    const { path, busyTimeoutMs, maxPages, readOnly = false } = this.#options;
    if (readOnly && !existsSync(path)) {
      throw new LedgerError(
        "cannot_open",
        `Cannot read ${path}: the file does not exist`,
      );
    }
    const writes = this.location === "file" && !readOnly;
    if (writes) checkVersion(path, this.#options.version ?? sqliteVersion());
    const found = writes ? this.#beforeOpening(path) : null;
    const database = new Sqlite(path);
    try {
      database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
      // What is deleted is overwritten: somebody may have asked for it.
      database.exec("PRAGMA secure_delete = ON");
      if (found !== null) {
        const [[mode] = []] = database.all("PRAGMA journal_mode = WAL");
        if (mode !== "wal") {
          throw new LedgerError(
            "cannot_open",
            `Cannot use ${path} as a ledger: the file system does not allow ` +
              `write-ahead logging (journal mode stays ${mode})`,
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
        database.all(`PRAGMA max_page_count = ${maxPages}`);
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

  #run(database: Sqlite, { sql, args }: Statement): ResultSet {
    let prepared = this.#prepared.get(sql);
    if (prepared === undefined) {
      prepared = database.prepare(sql);
      if (this.#prepared.size >= MOST_PREPARED) this.#prepared.clear();
      this.#prepared.set(sql, prepared);
    }
    const { columns } = prepared;
    return columns.length === 0
      ? { columns, rows: [], rowsAffected: prepared.run(args) }
      : { columns, rows: prepared.all(args), rowsAffected: 0 };
  }

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
    if (said.code === "replaced") this.#ended ??= said;
    const usable = undone && failedWith(said, "constraint", "conflict");
    if (!usable && this.location === "file") this.#disconnect();
    return said;
  }
}

/**
 * Fills every table anew. Rows that move between pages leave bytes in what is
 * free of a page, which `secure_delete` does not overwrite; a page that is free
 * as a whole, it does. VACUUM would do the same, and Deno allows that to
 * programs with every permission alone. Nor does the file shrink: to other
 * processes that means that another file was copied over it.
 */
function rewriteTables(database: Sqlite): void {
  database.exec("BEGIN IMMEDIATE");
  const tables = database.all(
    `SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND
      type = 'table' AND name NOT GLOB 'sqlite_*'`,
  );
  for (const [table, hasNoRowId] of tables) {
    const names = database.all(
      "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0",
      [String(table)],
    ).map(([name]) => `"${name}"`);
    const columns = hasNoRowId ? names : ["rowid", ...names];
    const own = columns.map((_, at) => `c${at}`);
    database.exec(`
      CREATE TEMP TABLE moved (${own.join()});
      INSERT INTO temp.moved SELECT ${columns.join()} FROM main."${table}";
      DELETE FROM main."${table}";
      INSERT INTO main."${table}" (${columns.join()})
        SELECT ${own.join()} FROM temp.moved ORDER BY rowid;
      DROP TABLE temp.moved`);
  }
  database.exec("COMMIT");
}

/** Copies the log into the database and cuts it; false while others read it. In memory there is none. */
function emptyLogOf(database: Sqlite): boolean {
  const [[busy] = []] = database.all("PRAGMA wal_checkpoint(TRUNCATE)");
  return busy === 0;
}

/** Statements that are kept compiled; a process uses about two hundred. */
const MOST_PREPARED = 500;

/** Several processes use a ledger's file, and each of them may commit. */
function checkVersion(path: string, version: string): void {
  if (isSafeSqlite(version)) return;
  throw new LedgerError(
    "cannot_open",
    `Cannot write ${path}: this runtime's SQLite ${version} can lose what ` +
      `another process commits; use ${SAFE_RUNTIMES}`,
  );
}

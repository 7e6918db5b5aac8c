/** How the ledger reads and writes: rows in, rows out, all of a batch or nothing. */
import { messageOf } from "../../core/guards.ts";
import { backoffMs, sleep } from "../../core/waiting/waiting.ts";

/** A value SQLite can hold. */
export type SqlValue = null | string | number | bigint | Uint8Array;

/** One statement with its positional arguments. */
export interface Statement {
  /** SQL with `?` placeholders. */
  readonly sql: string;
  /** One value per placeholder. */
  readonly args: readonly SqlValue[];
  /**
   * Set when the statement checks that a row is still as it was read. If it is
   * not, the batch fails with `conflict`. See
   * `expectRow`.
   */
  readonly expects?: true;
}

/** What one statement answered. */
export interface ResultSet {
  /** Column names. */
  readonly columns: readonly string[];
  /** Rows, each an array in the order of `columns`. */
  readonly rows: readonly (readonly SqlValue[])[];
  /** Rows inserted, updated or deleted, by a statement without `RETURNING`. */
  readonly rowsAffected: number;
}

/**
 * What the ledger needs from a database: run statements as one transaction.
 *
 * Integers are passed and returned as numbers. After an error other than a
 * constraint, the driver reconnects before its next batch. A read batch must
 * not write. On a replica it may see an earlier state; a write batch never
 * does.
 */
export interface Driver {
  /** Where the database lives. */
  readonly location: "file" | "memory" | "remote";
  /**
   * Runs the statements in one transaction: all of them, or none.
   *
   * @throws {LedgerError} With a literal `code`; see `ErrorCode`.
   */
  batch(
    statements: readonly Statement[],
    mode: "read" | "write",
  ): Promise<ResultSet[]>;
  /**
   * Copies the live database into a new file; absent on remote databases.
   *
   * @throws {LedgerError} When the file exists or cannot be written.
   */
  copyTo?(path: string): Promise<void>;
  /**
   * Writes the database anew, without what was deleted, and empties its log;
   * absent on remote databases.
   *
   * @throws {LedgerError} `busy` while others hold it.
   */
  vacuum?(): Promise<void>;
  /**
   * Empties the log of the database, which holds what was written before;
   * absent on remote databases.
   *
   * @returns False while others read it.
   */
  emptyLog?(): Promise<boolean>;
  /**
   * Does work of the fold where the database is, by its name; absent where that
   * is the caller's thread.
   */
  work?(name: string, options: unknown): Promise<unknown>;
  /** Releases the database; later batches throw. */
  close(): Promise<void>;
}

/** By words: a `WITH` that names a change anywhere, even in a text, counts as writing. */
export function isQuery({ sql }: Statement): boolean {
  return /^\s*SELECT\b/i.test(sql) ||
    /^\s*WITH\b(?!.*\b(?:INSERT|UPDATE|DELETE|REPLACE)\b)/is.test(sql);
}

/**
 * What went wrong with the ledger's database.
 *
 * - `not_a_database`: the file is something else.
 * - `not_a_ledger`: a database that another program made.
 * - `other_schema`: written by a version of this package with other tables.
 * - `wrong_environment`: stamped with another environment.
 * - `cannot_open`: the path or address cannot be opened.
 * - `unauthorised`: the server refused the token.
 * - `unreachable`: no answer; a write may or may not have been committed.
 * - `read_only`: the file or the server takes no writes.
 * - `busy`: another writer held the lock for too long.
 * - `full`: the disk or the quota is full.
 * - `corrupt`: the file is damaged.
 * - `replaced`: the file was removed or replaced while it was in use; what was
 *   written is not durable, and nothing more is written until a restart.
 * - `conflict`: another process changed first what the batch expects; nothing
 *   was written.
 * - `constraint`: the database refused the rows; nothing was written.
 * - `overloaded`: too much is waiting to be written; nothing was written.
 * - `closed`: the ledger was closed before.
 * - `crashed`: the database thread ended; a write may have been committed.
 * - `failed`: anything else; the message says what.
 */
export type LedgerErrorCode =
  | "not_a_database"
  | "not_a_ledger"
  | "other_schema"
  | "wrong_environment"
  | "cannot_open"
  | "unauthorised"
  | "unreachable"
  | "read_only"
  | "busy"
  | "full"
  | "corrupt"
  | "replaced"
  | "conflict"
  | "constraint"
  | "overloaded"
  | "closed"
  | "crashed"
  | "failed";

/** The database of a ledger failed. Messages never hold a token. */
export class LedgerError extends Error {
  /** Always `LedgerError`. */
  override readonly name = "LedgerError";
  /** What went wrong. */
  readonly code: LedgerErrorCode;

  /** An error of the database. */
  constructor(
    code: LedgerErrorCode,
    message: string,
    options?: { readonly cause?: unknown },
  ) {
    super(message, options);
    this.code = code;
  }
}

export function failedWith(
  error: unknown,
  ...codes: readonly LedgerErrorCode[]
): error is LedgerError {
  return error instanceof LedgerError && codes.includes(error.code);
}

export const CLOSED = "The database was closed before";

const codes: readonly (readonly [prefix: string, code: LedgerErrorCode])[] = [
  ["SQLITE_CONSTRAINT", "constraint"],
  ["SQLITE_MISMATCH", "constraint"],
  ["SQLITE_TOOBIG", "constraint"],
  ["SQLITE_BUSY", "busy"],
  ["SQLITE_LOCKED", "busy"],
  ["SQLITE_READONLY", "read_only"],
  ["SQLITE_FULL", "full"],
  ["SQLITE_NOTADB", "not_a_database"],
  ["SQLITE_CORRUPT", "corrupt"],
  ["SQLITE_CANTOPEN", "cannot_open"],
  ["SQLITE_PERM", "cannot_open"],
  ["SQLITE_AUTH", "unauthorised"],
];

const advice: Partial<Record<LedgerErrorCode, string>> = {
  conflict: "Another process changed first what the batch expects",
  constraint: "The database refused the rows",
  busy: "Another process holds the database's write lock",
  read_only: "The database takes no writes; check the permissions of the " +
    "file and of its folder",
  full: "The disk or the quota is full; nothing was written",
  not_a_database: "The file is not a database; choose another path",
  corrupt: "The file is damaged; restore a backup",
  cannot_open: "The database cannot be opened; check that its folder exists " +
    "and that it may be read and written",
  unauthorised: "The database rejects the token; check that it belongs to " +
    "this database and has not expired",
  unreachable: "The database cannot be reached; check its address and " +
    "whether its server runs",
};

/** SQLite has no code of its own for a quota or a file size limit. */
const ioAdvice =
  "the disk may be full, over a quota or at a file size limit, " +
  "or broken: ";

/** The ledger's code for a code of SQLite, such as `SQLITE_BUSY_SNAPSHOT`. */
export function codeOfSqlite(sqliteCode: string): LedgerErrorCode {
  return codes.find(([prefix]) => sqliteCode.startsWith(prefix))?.[1] ??
    "failed";
}

/** Says the problem, the place and what SQLite said. */
export function fromSqlite(
  error: unknown,
  where: string,
  statement?: Statement,
  code: LedgerErrorCode = codeOfError(error),
): LedgerError {
  if (error instanceof LedgerError) return error;
  // A refused expectation is a conflict, a refused row is not.
  const said = code === "constraint" && statement?.expects ? "conflict" : code;
  const what = advice[said] ?? "The database failed";
  const io = sqliteCode(error).startsWith("SQLITE_IOERR") ? ioAdvice : "";
  const sql = said === "failed" && statement !== undefined
    ? ` in ${statement.sql.replace(/\s+/g, " ").slice(0, 120)}`
    : "";
  const message = `${what}: ${where}: ${io}${messageOf(error)}${sql}`;
  return new LedgerError(said, message, { cause: error });
}

function sqliteCode(error: unknown): string {
  return String(Object(error).code ?? "");
}

/** By the message where the error's own code is too general. */
function codeOfError(error: unknown): LedgerErrorCode {
  const code = codeOfSqlite(sqliteCode(error));
  if (code !== "failed") return code;
  const message = messageOf(error);
  if (/unable to open|ConnectionFailed/i.test(message)) return "cannot_open";
  return /cannot store \w+ value/.test(message) ? "constraint" : "failed";
}

interface RetryOptions {
  /** Gives up with `busy` after this long, in ms. @default 5000 */
  readonly busyLimitMs?: number | undefined;
  readonly now?: () => number;
  readonly sleep?: (ms: number) => Promise<void>;
  /** A number from 0 to 1, for jitter. */
  readonly random?: () => number;
}

/**
 * Retries outside the driver, so that a lock never blocks a thread for longer than its
 * short timeout. A busy batch was rolled back, so a retry cannot write twice.
 */
export function retrying(driver: Driver, options: RetryOptions = {}): Driver {
  const { busyLimitMs = 5000, now = Date.now, random = Math.random } = options;
  const wait = options.sleep ?? sleep;
  const whileBusy = async <Result>(work: () => Promise<Result>) => {
    const start = now();
    for (let attempt = 0;; attempt++) {
      try {
        return await work();
      } catch (error) {
        if (!failedWith(error, "busy")) throw error;
        const waitedMs = now() - start;
        if (waitedMs >= busyLimitMs) {
          throw new LedgerError(
            "busy",
            `${error.message} (gave up after ${Math.round(waitedMs)} ms)`,
            { cause: error },
          );
        }
        await wait(busyDelayMs(attempt, random()));
      }
    }
  };
  const { copyTo, vacuum, emptyLog, work } = driver;
  return {
    location: driver.location,
    batch: (statements, mode) =>
      whileBusy(() => driver.batch(statements, mode)),
    ...copyTo && { copyTo: copyTo.bind(driver) },
    ...emptyLog && { emptyLog: emptyLog.bind(driver) },
    ...work && { work: work.bind(driver) },
    ...vacuum && { vacuum: () => whileBusy(() => vacuum.call(driver)) },
    close: () => driver.close(),
  };
}

export function busyDelayMs(attempt: number, random: number): number {
  const fullMs = backoffMs(attempt + 1, { firstMs: 5, longestMs: 200 });
  return fullMs * (0.5 + random / 2);
}

/** The same, once the database answers; closes the driver when it does not. */
export async function reached(
  driver: Driver,
  { busyLimitMs }: Pick<RetryOptions, "busyLimitMs">,
): Promise<Driver> {
  const opened = retrying(driver, { busyLimitMs });
  try {
    await opened.batch([{ sql: "SELECT 1", args: [] }], "read");
  } catch (error) {
    await driver.close();
    throw error;
  }
  return opened;
}

/** Lost races in a row after which the error is thrown. */
const MOST_ATTEMPTS = 100;

/** After a lost race it is read from the primary, because a replica may be behind. */
export async function retryLostRaces<Result>(
  attempt: (mode: "read" | "write") => Promise<Result>,
): Promise<Result> {
  for (let attempts = 1;; attempts++) {
    try {
      return await attempt(attempts === 1 ? "read" : "write");
    } catch (error) {
      if (!isLostRace(error) || attempts === MOST_ATTEMPTS) throw error;
    }
  }
}

export function isLostRace(error: unknown): boolean {
  return failedWith(error, "conflict");
}

/** The error of a step that saw before its write that it lost the race. */
export function lostRace(): LedgerError {
  return new LedgerError("conflict", "Another process was first");
}

export type Rows = readonly (readonly SqlValue[])[];

export function statement(
  sql: string,
  ...args: readonly SqlValue[]
): Statement {
  return { sql, args };
}

type ReadBatch = (
  driver: Driver,
  statements: readonly Statement[],
) => Promise<Rows[]>;

type Select = (
  driver: Driver,
  sql: string,
  ...args: readonly SqlValue[]
) => Promise<Rows>;

const batching =
  (mode: (driver: Driver) => "read" | "write"): ReadBatch =>
  async (driver, statements) =>
    (await driver.batch(statements, mode(driver))).map(({ rows }) => rows);

const selecting = (read: ReadBatch): Select => async (driver, sql, ...args) =>
  (await read(driver, [statement(sql, ...args)]))[0] ?? [];

/** How what decides something is read: never what a replica has not heard of yet. */
export function decidingMode({ location }: Driver): "read" | "write" {
  return location === "remote" ? "write" : "read";
}

/** Reads in one transaction; a replica may be behind. */
export const read: ReadBatch = batching(() => "read");
export const readDeciding: ReadBatch = batching(decidingMode);
/** Writes all statements or none. */
export const write: ReadBatch = batching(() => "write");

export const select: Select = selecting(read);
export const selectDeciding: Select = selecting(readDeciding);

/** Reads one value; null where there is no row. */
export async function selectValue(
  ...asked: Parameters<Select>
): Promise<SqlValue> {
  const [[value = null] = []] = await select(...asked);
  return value;
}

type RowRead = Readonly<Record<string, Exclude<SqlValue, null>>>;

/** Begins a batch that fails with `conflict` if the row is not as it was read: a row of nulls is refused. */
export function expectRow(table: string, row: RowRead): Statement {
  const columns = Object.keys(row);
  const same = columns.map((column, at) => `${column} = ?${at + 1}`);
  return {
    sql: `INSERT INTO ${table} (${columns[0]}) SELECT NULL
      WHERE NOT EXISTS (SELECT 1 FROM ${table} WHERE ${same.join(" AND ")})`,
    args: Object.values(row),
    expects: true,
  };
}

/** Values as one argument, for `IN (SELECT value FROM json_each(?))`. */
export function listed(values: Iterable<SqlValue>): string {
  return JSON.stringify([...values]);
}

/** How many rows a statement inserts: what a call of SQLite costs is paid for all. */
const ROWS_AT_ONCE = [64, 8, 1];

/** Inserts rows of as many values each, by few statements. */
export function insertMany(
  into: string,
  rows: readonly (readonly SqlValue[])[],
  conflict = "",
): Statement[] {
  const row = `(${rows[0]?.map(() => "?").join()})`;
  let done = 0;
  return ROWS_AT_ONCE.flatMap((size) => {
    const sql = `${into} VALUES ${Array(size).fill(row).join()} ${conflict}`;
    const statements: Statement[] = [];
    for (; done + size <= rows.length; done += size) {
      statements.push({ sql, args: rows.slice(done, done + size).flat() });
    }
    return statements;
  });
}

export function bytesOf(value: SqlValue | undefined): Uint8Array {
  return value instanceof Uint8Array ? value : new Uint8Array();
}

/** Checks that the database would accept a write; returns its SQLite's version. */
export async function requireWritable(driver: Driver): Promise<string> {
  // The lock that a write takes.
  const [rows] = await write(driver, [statement("SELECT sqlite_version()")]);
  return String(rows?.[0]?.[0]);
}

/** The first damage in the pages of a database file; null where there is none. */
export async function findDamage(driver: Driver): Promise<string | null> {
  const found = await selectValue(driver, "PRAGMA quick_check(1)");
  return found === "ok" ? null : String(found);
}

export async function readSweep<State>(
  driver: Driver,
  name: string,
): Promise<State | null> {
  const sql = "SELECT value FROM cursors WHERE name = ?";
  const text = await selectValue(driver, sql, name);
  return typeof text === "string" ? JSON.parse(text) as State : null;
}

export function writeSweep(
  name: string,
  state: unknown,
  nowMs: number,
): Statement {
  return statement(
    "INSERT OR REPLACE INTO cursors (name, value, updated_at) VALUES (?, ?, ?)",
    ...[name, JSON.stringify(state), Math.floor(nowMs)],
  );
}

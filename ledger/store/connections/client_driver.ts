/** A database behind a client of `@libsql/client`. */
import { messageOf } from "../../../core/guards.ts";
import { within } from "../../../core/waiting/waiting.ts";
import {
  CLOSED,
  codeOfSqlite,
  type Driver,
  failedWith,
  fromSqlite,
  isQuery,
  LedgerError,
  type LedgerErrorCode,
  reached,
  type ResultSet,
  select,
  selectValue,
  type SqlValue,
  type Statement,
  statement,
  write,
} from "../database.ts";
import { isSafeSqlite } from "../../../core/sqlite.ts";

/**
 * What the ledger needs of a client of `@libsql/client`. Such a client fits as
 * it is; this package does not import it for its types.
 *
 * The ledger speaks to `file:`, `libsql:`, `https:` and `http:` databases; a
 * client over WebSockets is refused. Give the ledger a client of its own: after
 * an error in a file it calls `reconnect()`, which ends what else that client
 * is doing.
 */
export interface LedgerClient {
  /** `file` or `http`. */
  readonly protocol: string;
  /** Whether it was closed. */
  readonly closed: boolean;
  /** Runs the statements in one transaction. */
  batch(
    statements: ClientStatement[],
    mode: "read" | "write",
  ): Promise<ClientResult[]>;
  /** Drops its connections and opens new ones. */
  reconnect(): void | Promise<void>;
  /** Ends it; the ledger leaves that to the caller who made the client. */
  close(): void;
}

/** A statement as a {@linkcode LedgerClient} takes it. */
export interface ClientStatement {
  /** SQL with `?` placeholders. */
  readonly sql: string;
  /** One value per placeholder. */
  readonly args: (null | string | number | bigint | Uint8Array)[];
}

/** What a {@linkcode LedgerClient} answers to one statement. */
export interface ClientResult {
  /** Column names. */
  readonly columns: string[];
  /** Rows; each has its values by index. */
  readonly rows: ArrayLike<unknown>[];
  /** Rows inserted, updated or deleted. */
  readonly rowsAffected: number;
}

interface ClientDriverOptions extends Omit<OpenClientOptions, "busyLimitMs"> {
  readonly location: Driver["location"];
  /** Its name in messages, without a token. */
  readonly where: string;
  /** Whether closing the driver closes the client too. @default {its maker does} */
  readonly closesClient?: boolean;
}

/**
 * Each batch is one call of the client's. A server decides how durable a commit is:
 * sqld runs with `synchronous=NORMAL`.
 */
export function clientDriver(options: ClientDriverOptions): Driver {
  const { client, location, where, timeoutMs = Infinity } = options;
  let isClosed = false;
  let last: Promise<unknown> = Promise.resolve();
  const run: Driver["batch"] = async (statements, mode) => {
    if (isClosed || client.closed) throw new LedgerError("closed", CLOSED);
    const asked = options.readOnly ? "read" : mode;
    const onlyReads = statements.every(canBeAnswered);
    if (asked === "read" && !onlyReads) {
      // Neither a file nor a server refuses it, even in a read transaction.
      throw new LedgerError("read_only", `${where} is only read from here`);
    }
    const all = statements.map(sent);
    if (location === "remote" && asked === "write" && onlyReads) {
      all.push(PRIMARY_ONLY);
    }
    const unanswered = () =>
      new LedgerError(
        "unreachable",
        `No answer from ${where} within ${timeoutMs} ms`,
      );
    try {
      const results = await within(
        location === "remote" ? timeoutMs : Infinity,
        undefined,
        unanswered,
        () => client.batch(all, asked),
      );
      return results.slice(0, statements.length).map(resultSet);
    } catch (error) {
      const explained = fromClient(error, options, statements);
      const isUsable = failedWith(explained, "constraint", "conflict");
      // A statement that SQLite answered with `SQLITE_BUSY` stays open, and lets no
      // later transaction of its connection commit. A memory database would end
      // with its connection, which nobody else can lock.
      if (location === "file" && !isUsable) await client.reconnect();
      throw explained;
    }
  };
  return {
    location,
    batch: (statements, mode) => {
      if (location === "remote") return run(statements, mode);
      // One after the other: `reconnect()` would end the others.
      const batch = last.then(() => run(statements, mode));
      last = batch.catch(() => {});
      return batch;
    },
    close: async () => {
      isClosed = true;
      await last;
      if (options.closesClient) client.close();
    },
  };
}

/**
 * A replica answers a batch of queries from its own, perhaps earlier, state,
 * even in a write transaction; a statement that could write sends the whole
 * batch to the primary.
 */
const PRIMARY_ONLY: ClientStatement = {
  sql: "DROP TABLE IF EXISTS rampkit_no_such_table",
  args: [],
};

/** Whether a replica may answer a statement. */
function canBeAnswered(statement: Statement): boolean {
  return isQuery(statement) || /^\s*PRAGMA\b/i.test(statement.sql);
}

/** Integers become bigints, because the client sends numbers as floats. */
function sent({ sql, args }: Statement): ClientStatement {
  return {
    sql,
    args: args.map((value) =>
      Number.isSafeInteger(value) ? BigInt(value as number) : value
    ),
  };
}

function resultSet(result: ClientResult): ResultSet {
  const { columns, rows, rowsAffected } = result;
  return {
    columns,
    rows: rows.map((row) => columns.map((_, at) => plain(row[at]))),
    rowsAffected: columns.length === 0 ? rowsAffected : 0,
  };
}

function plain(value: unknown): SqlValue {
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  return typeof value === "bigint" ? Number(value) : value as SqlValue ?? null;
}

function fromClient(
  error: unknown,
  { location, where }: ClientDriverOptions,
  statements: readonly Statement[],
): LedgerError {
  if (error instanceof LedgerError) return error;
  const { statementIndex, cause } = Object(error);
  const statement = statements[statementIndex];
  // The client puts its codes before the message, once for every layer.
  const inner = cause instanceof Error ? cause : error;
  const code = location === "remote" ? codeOf(error, inner) : undefined;
  return fromSqlite(inner, where, statement, code);
}

function codeOf(error: unknown, inner: unknown): LedgerErrorCode {
  const { status, name } = Object(inner);
  if (status === 401 || status === 403) return "unauthorised";
  const code = String(Object(error).code ?? "");
  if (code === "TRANSACTION_CLOSED") return "failed"; // A skipped statement.
  // Anything but the server's answer to a statement leaves open what happened.
  if (name !== "ResponseError") return "unreachable";
  if (code.startsWith("AUTH_")) return "unauthorised";
  if (code === "PROXY_ERROR") return codeOfProxied(messageOf(inner));
  return codeOfSqlite(code);
}

/** A replica passes on the errors of its primary without their codes. */
function codeOfProxied(message: string): LedgerErrorCode {
  if (/constraint failed|cannot store|datatype mismatch/.test(message)) {
    return "constraint";
  }
  if (/locked|busy/i.test(message)) return "busy";
  return /no such|syntax error/.test(message) ? "failed" : "unreachable";
}

/** Which client to use, and how. */
export interface OpenClientOptions {
  /**
   * A client of `@libsql/client`, made by its `createClient`. The ledger uses
   * it until it is closed itself; closing the client is yours. A client of a
   * file whose SQLite is before 3.51.3 is refused while others have it open.
   */
  readonly client: LedgerClient;
  /**
   * Longest wait for one answer of a database on a server, in ms. The request
   * itself is given up only if the client's `fetch` does that.
   *
   * @default 10000
   */
  readonly timeoutMs?: number;
  /**
   * Gives up with `busy` after another writer has held the lock this long,
   * in ms.
   *
   * @default 5000
   */
  readonly busyLimitMs?: number;
  /**
   * Only reads: a batch that would write fails.
   *
   * @default false
   */
  readonly readOnly?: boolean;
}

/**
 * Opens the database behind a client.
 *
 * @throws {TypeError} When the client speaks over WebSockets, or answers
 * integers as texts.
 * @throws {LedgerError} As `openDriver()`.
 */
export async function openClient(options: OpenClientOptions): Promise<Driver> {
  const { client, timeoutMs = 10_000, readOnly = false } = options;
  const known = await databaseOf(client);
  if (known.location === "file" && !readOnly) await refuseOldEngine(known);
  const driver = clientDriver({ ...known, timeoutMs, readOnly });
  const opened = await reached(driver, options);
  if (await selectValue(opened, "SELECT 1") === 1) return opened;
  await opened.close();
  throw new TypeError(
    "Cannot use a client that answers integers as texts: make it with " +
      "`intMode` left out",
  );
}

type Known = Pick<ClientDriverOptions, "client" | "location" | "where">;

async function databaseOf(client: LedgerClient): Promise<Known> {
  const where = "the client's database";
  if (client.protocol === "http") return { client, location: "remote", where };
  if (client.protocol !== "file") {
    throw new TypeError(
      `Cannot use a client over ${client.protocol}: make it with a file:, ` +
        "libsql:, https: or http: address",
    );
  }
  const asked = clientDriver({ client, location: "memory", where });
  const [[, , file] = []] = await select(asked, "PRAGMA database_list");
  return typeof file === "string" && file !== ""
    ? { client, location: "file", where: file }
    : { client, location: "memory", where: ":memory:" };
}

/** An old engine may lose what others commit, so it is not used beside them. */
async function refuseOldEngine(known: Known): Promise<void> {
  const asked = clientDriver(known);
  const version = await selectValue(asked, "SELECT sqlite_version()");
  if (isSafeSqlite(String(version))) return;
  const why = `The client's SQLite ${version} can lose what another process ` +
    `commits to ${known.where}`;
  const advice = "give `url` in place of `client` to share the file";
  try {
    await select(asked, "PRAGMA locking_mode = EXCLUSIVE");
    await write(asked, [statement("SELECT 1")]);
    await select(asked, "PRAGMA locking_mode = NORMAL");
    // The lock goes with the next read.
    await select(asked, "SELECT count(*) FROM sqlite_schema");
  } catch (error) {
    if (!failedWith(error, "busy")) throw error;
    throw new LedgerError(
      "busy",
      `${why}, which has it open; stop that one, or ${advice}`,
      { cause: error },
    );
  }
  console.warn(`rampkit: ${why}: let none write it, or ${advice}`);
}

import {
  type Driver,
  isQuery,
  type ResultSet,
  type SqlValue,
  type Statement,
} from "../driver/driver.ts";
import { LedgerError, type LedgerErrorCode } from "../driver/errors.ts";
import type {
  ClientResult,
  ClientStatement,
  LedgerClient,
} from "./ledger_client.ts";
import { messageOf } from "../../../core/guards.ts";
import {
  codeOfSqlite,
  codeOfStatement,
  fromSqlite,
  ledgerError,
} from "../driver/sqlite_errors.ts";

/** Which client, and what is known of its database. */
export interface ClientDriverOptions {
  /** The client; {@linkcode ClientDriver.close} does not close it. */
  readonly client: LedgerClient;
  /** Where its database lives. */
  readonly location: Driver["location"];
  /** The same for error messages, without a token. */
  readonly where: string;
  /**
   * Longest wait for one batch of a database on a server, in ms.
   *
   * @default that of the client's own requests
   */
  readonly timeoutMs?: number;
  /**
   * Only reads: a batch that would write fails.
   *
   * @default false
   */
  readonly readOnly?: boolean;
}

/**
 * A database behind a client of `@libsql/client`. Each batch is one call of the
 * client's, and one request where the database is on a server. The server
 * decides how durable a commit is: sqld runs with `synchronous=NORMAL`. A file
 * works on the calling thread.
 */
export class ClientDriver implements Driver {
  /** Where the database lives. */
  readonly location: Driver["location"];
  readonly #options: ClientDriverOptions;
  #closed = false;
  #last: Promise<unknown> = Promise.resolve();

  /**
   * Sends nothing yet: the first batch does.
   *
   * @param options The client, and what is known of its database.
   */
  constructor(options: ClientDriverOptions) {
    this.location = options.location;
    this.#options = options;
  }

  /**
   * Runs the statements in one transaction: all of them, or none.
   *
   * @throws {LedgerError} `unreachable` leaves open whether a write happened.
   */
  batch(
    statements: readonly Statement[],
    mode: "read" | "write",
  ): Promise<ResultSet[]> {
    if (this.location === "remote") return this.#batch(statements, mode);
    // One after the other: `reconnect()` would end the others.
    const batch = this.#last.then(() => this.#batch(statements, mode));
    this.#last = batch.catch(() => {});
    return batch;
  }

  /** Refuses further batches. The client stays open: its maker closes it. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#last;
  }

  async #batch(
    statements: readonly Statement[],
    mode: "read" | "write",
  ): Promise<ResultSet[]> {
    const { client, location, where, readOnly } = this.#options;
    if (this.#closed || client.closed) {
      throw new LedgerError("closed", "The database was closed before");
    }
    const asked = readOnly === true ? "read" : mode;
    if (asked === "read" && !statements.every(canBeAnswered)) {
      // Neither a file nor a server refuses it, even in a read transaction.
      throw new LedgerError("read_only", `${where} is only read from here`);
    }
    const all = statements.map(sent);
    const onPrimary = location === "remote" && asked === "write" &&
      statements.every(canBeAnswered);
    if (onPrimary) all.push(primaryOnly);
    try {
      const results = await this.#inTime(client.batch(all, asked));
      return results.slice(0, statements.length).map(resultSet);
    } catch (error) {
      const explained = fromClient(error, { statements, location, where });
      await this.#recover(explained);
      throw explained;
    }
  }

  async #inTime<T>(answer: Promise<T>): Promise<T> {
    const { timeoutMs, where } = this.#options;
    if (timeoutMs === undefined || this.location !== "remote") {
      return await answer;
    }
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      late.reject(
        new LedgerError(
          "unreachable",
          `No answer from ${where} within ${timeoutMs} ms`,
        ),
      );
    }, timeoutMs);
    try {
      return await Promise.race([answer, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * A statement that SQLite answered with `SQLITE_BUSY` stays open, and lets no
   * later transaction of its connection commit. A memory database would end
   * with its connection, which nobody else can lock.
   */
  async #recover({ code }: LedgerError): Promise<void> {
    const usable = code === "constraint" || code === "conflict";
    if (this.location !== "file" || usable) return;
    await this.#options.client.reconnect();
  }
}

/**
 * A replica answers a batch of queries from its own, perhaps earlier, state,
 * even in a write transaction; a statement that could write sends the whole
 * batch to the primary.
 */
const primaryOnly: ClientStatement = {
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

function resultSet(
  { columns, rows, rowsAffected }: ClientResult,
): ResultSet {
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

/** The fields of the client's errors that are used here. */
interface ClientError {
  readonly code?: unknown;
  readonly statementIndex?: unknown;
  readonly cause?: unknown;
  readonly name?: unknown;
  readonly status?: unknown;
}

/** What a batch ran over, for the message and the code of its error. */
export interface FailedBatch {
  /** The statements, as the client numbered them. */
  readonly statements: readonly Statement[];
  /** Where the database lives. */
  readonly location: Driver["location"];
  /** The same for people. */
  readonly where: string;
}

/** Turns what a client threw into an error of ours. */
export function fromClient(error: unknown, batch: FailedBatch): LedgerError {
  if (error instanceof LedgerError) return error;
  const { statementIndex } = fields(error);
  const statement = typeof statementIndex === "number"
    ? batch.statements[statementIndex]
    : undefined;
  // The client puts its codes before the message, once for every layer.
  const { cause } = fields(error);
  const inner = cause instanceof Error ? cause : error;
  if (batch.location !== "remote") {
    return fromSqlite(inner, batch.where, statement);
  }
  const message = messageOf(inner);
  return ledgerError(
    codeOfStatement(codeOf(error, inner), statement),
    batch.where,
    { message, cause: error },
  );
}

function codeOf(error: unknown, inner: unknown): LedgerErrorCode {
  const { status, name } = fields(inner);
  if (status === 401 || status === 403) return "unauthorised";
  const code = String(fields(error).code ?? "");
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

function fields(error: unknown): ClientError {
  return typeof error === "object" && error !== null ? error : {};
}

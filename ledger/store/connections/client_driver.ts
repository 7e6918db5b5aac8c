import { fromClient } from "./_client_errors.ts";
import type {
  Driver,
  ResultSet,
  SqlValue,
  Statement,
} from "../driver/driver.ts";
import { LedgerError } from "../driver/errors.ts";
import type {
  ClientResult,
  ClientStatement,
  LedgerClient,
} from "./ledger_client.ts";

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

  /** Takes no more batches. The client stays open: its maker closes it. */
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
    if (asked === "read" && !statements.every(isQuery)) {
      // Neither a file nor a server refuses it, even in a read transaction.
      throw new LedgerError("read_only", `${where} is only read from here`);
    }
    const all = statements.map(sent);
    const onPrimary = location === "remote" && asked === "write" &&
      statements.every(isQuery);
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

/** Whether a statement only reads. */
function isQuery({ sql }: Statement): boolean {
  return /^\s*(?:SELECT|PRAGMA)\b/i.test(sql) ||
    /^\s*WITH\b(?!.*\b(?:INSERT|UPDATE|DELETE)\b)/is.test(sql);
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

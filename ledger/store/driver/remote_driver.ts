import { messageOf } from "../../../core/guards.ts";
import * as hrana from "@libsql/hrana-client";
import {
  codeOfSqlite,
  codeOfStatement,
  ledgerError,
} from "./_sqlite_errors.ts";
import { publicUrl } from "./database_url.ts";
import type { Driver, ResultSet, SqlValue, Statement } from "./driver.ts";
import { LedgerError, type LedgerErrorCode } from "./errors.ts";

/** How a remote database is reached. */
export interface RemoteOptions {
  /** `libsql:`, `https:` or `http:` address. */
  readonly url: string;
  /** Token of the database. */
  readonly authToken?: string;
  /**
   * Longest wait for one request, in ms.
   *
   * @default 10000
   */
  readonly timeoutMs?: number;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch;
}

/**
 * A database on sqld or Turso, over HTTP. Each batch is one request, and no
 * native code is imported. The server decides how durable a commit is: sqld
 * runs with `synchronous=NORMAL`.
 */
export class RemoteDriver implements Driver {
  /** Always `remote`. */
  readonly location = "remote" as const;
  readonly #connect: () => hrana.HttpClient;
  readonly #where: string;
  #client: hrana.HttpClient | null = null;
  #closed = false;

  /**
   * Sends nothing yet: the first batch sends the first request.
   *
   * @param options Address, token and timeout.
   * @throws {LedgerError} `cannot_open` when the address is not valid.
   */
  constructor(options: RemoteOptions) {
    const { timeoutMs = 10_000, fetch: send = fetch } = options;
    this.#where = publicUrl(options.url);
    const { url, authToken } = address(options, this.#where);
    this.#connect = () =>
      hrana.openHttp(
        url,
        authToken,
        (request: Request) =>
          send(request, { signal: AbortSignal.timeout(timeoutMs) }),
      );
  }

  /**
   * Runs the statements in one transaction: all of them, or none.
   *
   * @throws {LedgerError} `unreachable` leaves open whether a write happened.
   */
  async batch(
    statements: readonly Statement[],
    mode: "read" | "write",
  ): Promise<ResultSet[]> {
    if (this.#closed) {
      throw new LedgerError("closed", "The database was closed before");
    }
    const client = this.#client ??= this.#connect();
    try {
      // Asked first, so that the whole batch then takes one request.
      await client.getVersion();
      const stream = client.openStream();
      const results = transact(stream, statements, mode);
      stream.closeGracefully();
      return await results;
    } catch (error) {
      const explained = this.#explain(error);
      // A client that could not learn the server's version never asks again.
      const refused = explained.code === "constraint" ||
        explained.code === "conflict";
      if (!refused && this.#client === client) {
        this.#client = null;
        client.close();
      }
      throw explained;
    }
  }

  /** Forgets the connection. */
  // deno-lint-ignore require-await -- A driver answers with a promise.
  async close(): Promise<void> {
    this.#closed = true;
    this.#client?.close();
    this.#client = null;
  }

  #explain(error: unknown): LedgerError {
    const { cause, statement } = error instanceof StatementError
      ? error
      : { cause: error, statement: undefined };
    const message = messageOf(cause);
    const code = codeOfStatement(codeOf(cause), statement);
    return ledgerError(code, this.#where, { message, cause });
  }
}

function address(
  options: RemoteOptions,
  where: string,
): { readonly url: string; readonly authToken: string | undefined } {
  try {
    const { hranaHttpUrl, authToken } = hrana.parseLibsqlUrl(options.url);
    if (hranaHttpUrl === undefined) throw new TypeError("No HTTP address");
    return { url: hranaHttpUrl, authToken: options.authToken ?? authToken };
  } catch {
    // The cause would show the whole address, which may contain a token.
    throw new LedgerError(
      "cannot_open",
      `Cannot use ${where} as a ledger: the address must be file:PATH, ` +
        ":memory:, libsql:, https: or http:",
    );
  }
}

/** Queues one batch: begin, each step only after the last succeeded, commit. */
async function transact(
  stream: hrana.Stream,
  statements: readonly Statement[],
  mode: "read" | "write",
): Promise<ResultSet[]> {
  const batch = stream.batch();
  const all = mode === "write" && statements.every(isQuery)
    ? [...statements, primaryOnly]
    : statements;
  const answers: Promise<hrana.RowsResult | undefined>[] = [];
  let last = batch.step();
  answers.push(
    last.query(
      mode === "write" ? "BEGIN IMMEDIATE" : "BEGIN TRANSACTION READONLY",
    ),
  );
  for (const { sql, args } of all) {
    const step = batch.step().condition(hrana.BatchCond.ok(last));
    answers.push(step.query([sql, args.map(bindable)]));
    last = step;
  }
  const commit = batch.step().condition(hrana.BatchCond.ok(last));
  answers.push(commit.query("COMMIT"));
  const undo = batch.step().condition(
    hrana.BatchCond.not(hrana.BatchCond.ok(commit)),
  );
  const undone = undo.query("ROLLBACK");
  const settled = Promise.allSettled([...answers, undone]);
  await batch.execute();
  await settled;
  const results: ResultSet[] = [];
  for (const [at, answer] of answers.entries()) {
    const rows = await answer.catch((cause) => {
      throw new StatementError(statements[at - 1], cause);
    });
    if (rows === undefined) {
      throw new LedgerError("failed", "The server skipped a statement");
    }
    results.push(resultSet(rows));
  }
  return results.slice(1, 1 + statements.length);
}

/**
 * A replica answers a batch of queries from its own, perhaps earlier, state,
 * even in a write transaction; a statement that could write sends the whole
 * batch to the primary.
 */
const primaryOnly: Statement = {
  sql: "DROP TABLE IF EXISTS rampkit_no_such_table",
  args: [],
};

/** What the server answered to one statement. */
class StatementError extends Error {
  readonly statement: Statement | undefined;

  constructor(statement: Statement | undefined, cause: unknown) {
    super("The server refused a statement", { cause });
    this.statement = statement;
  }
}

function isQuery({ sql }: Statement): boolean {
  return /^\s*SELECT\b/i.test(sql);
}

function resultSet(answer: hrana.RowsResult): ResultSet {
  const columns = answer.columnNames.map((name) => name ?? "");
  return {
    columns,
    rows: answer.rows.map((row) => columns.map((_, at) => plain(row[at]))),
    rowsAffected: columns.length === 0 ? answer.affectedRowCount : 0,
  };
}

function codeOf(error: unknown): LedgerErrorCode {
  if (error instanceof LedgerError) return error.code;
  if (error instanceof hrana.HttpServerError) {
    return error.status === 401 || error.status === 403
      ? "unauthorised"
      : "unreachable";
  }
  if (error instanceof hrana.ResponseError) {
    const code = error.code ?? "";
    if (code.startsWith("AUTH_")) return "unauthorised";
    if (code === "PROXY_ERROR") return codeOfProxied(error.message);
    return code.startsWith("SQLITE_") ? codeOfSqlite(code) : "failed";
  }
  return "unreachable";
}

/** A replica passes on the errors of its primary without their codes. */
function codeOfProxied(message: string): LedgerErrorCode {
  if (/constraint failed|cannot store|datatype mismatch/.test(message)) {
    return "constraint";
  }
  if (/locked|busy/i.test(message)) return "busy";
  return /no such|syntax error/.test(message) ? "failed" : "unreachable";
}

/** Integers become bigints, because the protocol sends numbers as floats. */
function bindable(value: SqlValue): SqlValue {
  return Number.isSafeInteger(value) ? BigInt(value as number) : value;
}

function plain(value: hrana.Value | undefined): SqlValue {
  return value instanceof ArrayBuffer ? new Uint8Array(value) : value ?? null;
}

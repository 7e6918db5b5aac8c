import { type Client, createClient, LibsqlError } from "@libsql/client/http";
import { codeOfSqlite, ledgerError } from "./_sqlite_errors.ts";
import { publicUrl } from "./_url.ts";
import type { Driver, ResultSet, SqlValue, Statement } from "./driver.ts";
import { LedgerError, type LedgerErrorCode } from "./errors.ts";

/** How a remote database is reached. */
export interface RemoteOptions {
  /** `libsql:`, `https:` or `http:` address. */
  readonly url: string;
  /** Token of the database. */
  readonly authToken?: string;
  /**
   * Longest wait for one batch, in ms.
   *
   * @default 10000
   */
  readonly timeoutMs?: number;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch;
}

/**
 * A database on sqld or Turso, over HTTP: one request a batch. Nothing native
 * is imported. How durable a commit is, is the server's affair: sqld runs with
 * `synchronous=NORMAL`.
 */
export class RemoteDriver implements Driver {
  /** Always `remote`. */
  readonly location = "remote" as const;
  readonly #client: Client;
  readonly #where: string;
  #closed = false;

  /**
   * @param options Address, token and timeout.
   * @throws {LedgerError} `cannot_open` when the address is not one.
   */
  constructor(options: RemoteOptions) {
    this.#where = publicUrl(options.url);
    const send = options.fetch ?? fetch;
    const timeoutMs = options.timeoutMs ?? 10_000;
    try {
      this.#client = createClient({
        url: options.url,
        ...(options.authToken === undefined
          ? {}
          : { authToken: options.authToken }),
        intMode: "number",
        fetch: (request: Request) =>
          send(request, { signal: AbortSignal.timeout(timeoutMs) }),
      });
    } catch (error) {
      throw new LedgerError(
        "cannot_open",
        `Cannot use ${this.#where} as a ledger: ` +
          "the address must be libsql:, https: or http:",
        { cause: error },
      );
    }
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
    try {
      const results = await this.#client.batch(
        statements.map(({ sql, args }) => ({ sql, args: args.map(bindable) })),
        mode,
      );
      return results.map(({ columns, rows, rowsAffected }) => ({
        columns,
        rows: rows.map((row) => columns.map((_, at) => plain(row[at]))),
        rowsAffected: columns.length === 0 ? rowsAffected : 0,
      }));
    } catch (error) {
      throw this.#explain(error);
    }
  }

  /** Forgets the connection. */
  // deno-lint-ignore require-await -- A driver answers with a promise.
  async close(): Promise<void> {
    this.#closed = true;
    this.#client.close();
  }

  #explain(error: unknown): LedgerError {
    const message = error instanceof Error ? error.message : String(error);
    return ledgerError(codeOf(error, message), this.#where, {
      message,
      cause: error,
    });
  }
}

function codeOf(error: unknown, message: string): LedgerErrorCode {
  if (!(error instanceof LibsqlError)) return "unreachable";
  const { code } = error;
  if (code.startsWith("SQLITE_")) return codeOfSqlite(code);
  if (/\b40[13]\b|unauthor|AUTH/i.test(`${code} ${message}`)) {
    return "unauthorised";
  }
  if (/SERVER_ERROR|HRANA_|STREAM|TRANSACTION/.test(code)) return "unreachable";
  return "failed";
}

/** The protocol would send every number as a float. */
function bindable(value: SqlValue): SqlValue {
  return Number.isSafeInteger(value) ? BigInt(value as number) : value;
}

function plain(value: SqlValue | ArrayBuffer | undefined): SqlValue {
  return value instanceof ArrayBuffer ? new Uint8Array(value) : value ?? null;
}

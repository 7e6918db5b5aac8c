import { createClient } from "@libsql/client/web";
import { ClientDriver } from "./client_driver.ts";
import { publicUrl } from "./database_url.ts";
import { LedgerError } from "../driver/errors.ts";
import type { LedgerClient } from "./ledger_client.ts";

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
  /**
   * Only reads: a batch that would write fails.
   *
   * @default false
   */
  readonly readOnly?: boolean;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch;
}

/**
 * A database on sqld or Turso, over HTTP. Each batch is one request, and no
 * native code is imported. The server decides how durable a commit is: sqld
 * runs with `synchronous=NORMAL`.
 */
export class RemoteDriver extends ClientDriver {
  readonly #client: LedgerClient;

  /**
   * Sends nothing yet: the first batch sends the first request.
   *
   * @param options Address, token and timeout.
   * @throws {LedgerError} `cannot_open` when the address is not valid.
   */
  constructor(options: RemoteOptions) {
    const where = publicUrl(options.url);
    const client = connect(options, where);
    const { readOnly = false } = options;
    super({ client, where, location: "remote", readOnly });
    this.#client = client;
  }

  /** Ends what is under way; later batches throw. */
  override async close(): Promise<void> {
    await super.close();
    this.#client.close();
  }
}

function connect(options: RemoteOptions, where: string): LedgerClient {
  const { url, authToken, timeoutMs = 10_000, fetch: send = fetch } = options;
  try {
    if (!/^(libsql|https?):/.test(url)) throw new TypeError("No HTTP address");
    return createClient({
      url,
      ...(authToken === undefined ? {} : { authToken }),
      // A request that hangs must not keep the others waiting.
      concurrency: Infinity,
      fetch: (request: Request) =>
        send(request, { signal: AbortSignal.timeout(timeoutMs) }),
    });
  } catch {
    // The cause would show the whole address, which may contain a token.
    throw new LedgerError(
      "cannot_open",
      `Cannot use ${where} as a ledger: the address must be file:PATH, ` +
        ":memory:, libsql:, https: or http:",
    );
  }
}

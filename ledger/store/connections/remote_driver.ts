import { createClient } from "@libsql/client/web";
import { clientDriver, type LedgerClient } from "./client_driver.ts";
import { publicUrl } from "./database_url.ts";
import { type Driver, LedgerError } from "../database.ts";

interface RemoteOptions {
  /** `libsql:`, `https:` or `http:` address. */
  readonly url: string;
  readonly authToken?: string;
  /** Longest wait for one request, in ms. @default 10000 */
  readonly timeoutMs?: number;
  readonly readOnly?: boolean;
  readonly fetch?: typeof fetch;
}

/**
 * A database on sqld or Turso, over HTTP. Each batch is one request, the first
 * batch sends the first, and no native code is imported.
 *
 * @throws {LedgerError} `cannot_open` when the address is not valid.
 */
export function remoteDriver(options: RemoteOptions): Driver {
  const { url, authToken, timeoutMs = 10_000, readOnly = false } = options;
  const where = publicUrl(url);
  const { fetch: send = fetch } = options;
  let client: LedgerClient;
  try {
    if (!/^(libsql|https?):/.test(url)) throw new TypeError("No HTTP address");
    client = createClient({
      url,
      ...authToken !== undefined && { authToken },
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
  const location = "remote";
  return clientDriver({
    client,
    where,
    readOnly,
    location,
    closesClient: true,
  });
}

import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { defined, errorCode, isRecord, messageOf } from "../../core/guards.ts";
import { readRetryAfterMs } from "../../core/waiting/retry_delay.ts";
import { within } from "../../core/waiting/within.ts";
import { type KeptConnections, pinnedFetch } from "./pinned_fetch.ts";
import type { SignedWebhook } from "./signed_webhook.ts";
import { proxyOf } from "./proxied.ts";
import { addressKind } from "./target_address.ts";

/**
 * How an attempt to send a webhook ended. Reasons are our own words: none
 * repeats what the receiver said, or an address.
 */
export type PostOutcome =
  /** The receiver answered with a 2xx status. */
  | { readonly kind: "taken"; readonly status: number }
  /** It did not, and said how long to wait, in ms. */
  | {
    readonly kind: "retry_after";
    readonly status: number;
    readonly retryAfterMs: number;
    readonly reason: string;
  }
  /** The receiver answered 410: it wants no more webhooks. */
  | { readonly kind: "gone"; readonly status: 410; readonly reason: string }
  /** Anything else; the status is null when there was no answer. */
  | {
    readonly kind: "failed";
    readonly status: number | null;
    readonly reason: string;
  };

/** How webhooks are posted. */
export interface PostOptions {
  /** Aborts an attempt. */
  readonly signal?: AbortSignal;
  /** Longest wait for the status of the answer, in ms. @default 20_000 */
  readonly timeoutMs?: number;
  /** Clock, ms since the epoch. @default Date.now */
  readonly now?: () => number;
  /** Sends a request to addresses that were looked at. @default pinnedFetch */
  readonly fetch?: typeof pinnedFetch;
  /** Connections to use again. @default {each is closed after its answer} */
  readonly connections?: KeptConnections;
  /** Finds the IP addresses of a host name. @default {the system's} */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
}

/**
 * What is read of an answer's body, so that its connection is used again: so
 * many bytes at most, and for so long, in ms.
 */
const ANSWER_BYTES = 4_096;
const ANSWER_MS = 200;

/**
 * Posts a webhook once. Redirects are not followed, link-local addresses and
 * metadata services of clouds are refused, and `http` is refused beyond private
 * networks, also where a host name leads to them. The name is looked up once,
 * and the addresses that were found are those that are connected to; behind a
 * proxy of the environment the proxy connects, and may know names that this
 * machine does not.
 *
 * @throws The reason of `signal` when it is aborted.
 */
export async function postWebhook(
  url: URL,
  webhook: SignedWebhook,
  options: PostOptions = {},
): Promise<PostOutcome> {
  const { signal, timeoutMs = 20_000, now = Date.now } = options;
  const { fetch: send = pinnedFetch, connections } = options;
  const late = new Error("No answer in time");
  try {
    const response = await within(
      timeoutMs,
      signal,
      () => late,
      async (signal) => {
        const isProxied = options.fetch === undefined && proxyOf(url) !== null;
        const found = await lookAt(
          url,
          options.resolve ?? resolveHost,
          isProxied,
        );
        if (typeof found === "string") return found;
        signal.throwIfAborted();
        const { headers, body } = webhook;
        if (isProxied) {
          return await fetch(url, {
            method: "POST",
            ...{ headers: { ...headers }, body, signal },
            redirect: "manual",
          });
        }
        return await send(
          url.href,
          { headers, body, signal },
          defined({ addresses: found, connections }),
        );
      },
    );
    if (typeof response === "string") return failed(response);
    // The status is the answer, whatever becomes of the body.
    const outcome = outcomeOf(response, now());
    await discard(response);
    return outcome;
  } catch (error) {
    signal?.throwIfAborted();
    if (error === late) return failed(`no answer within ${timeoutMs} ms`);
    return failed(`could not be reached${connectionFault(error)}`);
  }
}

/** Messages of runtimes about a failed connection, each with ours. */
const CONNECTION_FAULTS: readonly (readonly [RegExp, string])[] = [
  [/refused|ECONNREFUSED/i, "connection refused"],
  [/certificate|self.signed|CERT_/i, "its certificate is not accepted"],
  [/reset|closed|hang up|ECONNRESET|EPIPE/i, "the connection broke"],
];

/** Why a connection failed, in brackets, in words of ours. */
function connectionFault(error: unknown): string {
  const cause = isRecord(error) ? error.cause : undefined;
  const said = `${messageOf(error)} ${messageOf(cause)} ${systemCode(error)}`;
  const known = CONNECTION_FAULTS.find(([pattern]) => pattern.test(said));
  return known === undefined ? systemCode(error) : `: ${known[1]}`;
}

function outcomeOf(response: Response, nowMs: number): PostOutcome {
  const { status, headers } = response;
  if (status >= 200 && status < 300) return { kind: "taken", status };
  const reason = status >= 300 && status < 400
    ? `answered ${status}; redirects are not followed`
    : `answered ${status}`;
  if (status === 410) return { kind: "gone", status, reason };
  const retryAfterMs = readRetryAfterMs(headers.get("retry-after"), nowMs);
  return retryAfterMs === null
    ? { kind: "failed", status, reason }
    : { kind: "retry_after", status, retryAfterMs, reason };
}

function failed(reason: string): PostOutcome {
  return { kind: "failed", status: null, reason };
}

/** The addresses of a target, or why it must not be sent to. */
async function lookAt(
  url: URL,
  resolve: NonNullable<PostOptions["resolve"]>,
  isProxied: boolean,
): Promise<readonly string[] | string> {
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  let addresses: readonly string[];
  try {
    addresses = isIP(host) === 0 ? await resolve(host) : [host];
  } catch (error) {
    if (isProxied) return [];
    return `its host name was not found${systemCode(error)}`;
  }
  const kinds = addresses.map(addressKind);
  if (kinds.includes("forbidden")) {
    return "its address is link-local, a cloud's metadata service or no " +
      "address of one machine: nothing is sent there";
  }
  return url.protocol === "http:" && kinds.includes("public")
    ? "its address is public: https is required there"
    : addresses;
}

async function resolveHost(host: string): Promise<string[]> {
  const found = await lookup(host, { all: true });
  return found.map(({ address }) => address);
}

/** The system's code of an error or of its cause, in brackets. */
function systemCode(error: unknown): string {
  const cause = isRecord(error) ? error.cause : undefined;
  const code = errorCode(error) ?? errorCode(cause);
  return typeof code === "string" && /^[A-Z_]{3,40}$/.test(code)
    ? ` (${code})`
    : "";
}

/** Reads the beginning of an answer, which may have no end. Never rejects. */
async function discard({ body }: Response): Promise<void> {
  const reader = body?.getReader();
  if (reader === undefined) return;
  const cut = () => void reader.cancel().catch(() => {});
  const timer = setTimeout(cut, ANSWER_MS);
  try {
    for (let bytes = 0; bytes < ANSWER_BYTES;) {
      const { done, value } = await reader.read();
      if (done) return;
      bytes += value.length;
    }
    cut();
  } catch {
    // It broke off.
  } finally {
    clearTimeout(timer);
  }
}

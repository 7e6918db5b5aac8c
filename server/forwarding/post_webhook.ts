import { BlockList, isIP, type LookupFunction } from "node:net";
import process from "node:process";
import http from "node:http";
import https from "node:https";
import { Readable } from "node:stream";
import { lookup } from "node:dns/promises";
import { defined, errorCode, isRecord, messageOf } from "../../core/guards.ts";
import { readRetryAfterMs, within } from "../../core/waiting/waiting.ts";
import type { SignedWebhook } from "./transition_message.ts";

/** An address that webhooks can be sent to, and how far it is away. */
type AddressKind = "private" | "public" | "forbidden";

const privateRanges = blockList([
  ["127.0.0.0", 8],
  ["10.0.0.0", 8],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["100.64.0.0", 10],
  ["198.18.0.0", 15],
  ["::1", 128],
  ["fc00::", 7],
]);

/**
 * Link-local addresses, those at which clouds answer with credentials, and those
 * that belong to no machine: of any, of many, of tunnels, and reserved ones.
 */
const forbiddenRanges = blockList([
  ["169.254.0.0", 16],
  ["100.100.100.200", 32],
  ["168.63.129.16", 32],
  ["192.0.0.0", 24],
  ["192.88.99.0", 24],
  ["0.0.0.0", 8],
  ["224.0.0.0", 3],
  ["fd00:ec2::254", 128],
  ["fd20:ce::254", 128],
  ["fe80::", 9],
  ["ff00::", 8],
  ["::", 128],
  ["100::", 64],
  ["2001::", 32],
  ["2001:2::", 48],
  ["2001:10::", 27],
  ["5f00::", 16],
]);

/** Networks of IPv6 whose last 32 bits are an address of IPv4. */
const TRANSLATED = blockList([
  ["::", 96],
  ["::ffff:0:0", 96],
  ["::ffff:0:0:0", 96],
  ["64:ff9b::", 96],
  ["64:ff9b:1::", 48],
]);

/** Says of what kind an IP address is. */
export function addressKind(address: string): AddressKind {
  const plain = address.replace(/^\[(.*)\]$/, "$1").replace(/%.*$/, "");
  if (isIP(plain) === 4) return kindOf(plain, "ipv4");
  const own = kindOf(plain, "ipv6");
  const inside = own === "public" ? addressInside(plain) : null;
  return inside === null ? own : kindOf(inside, "ipv4");
}

function kindOf(address: string, family: "ipv4" | "ipv6"): AddressKind {
  if (forbiddenRanges.check(address, family)) return "forbidden";
  return privateRanges.check(address, family) ? "private" : "public";
}

/** The address of IPv4 that one of IPv6 leads to; null where it leads to none. */
function addressInside(address: string): string | null {
  // The address of a URL is written in one form.
  const host = URL.parse(`http://[${address}]/`)?.hostname.slice(1, -1) ?? "";
  const [head = "", tail] = host.split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const gap = Array<string>(8 - before.length - after.length).fill("0");
  const groups = [...before, ...gap, ...after].map((one) => parseInt(one, 16));
  // 6to4 has it behind its first group.
  const pair = groups[0] === 0x2002
    ? groups.slice(1, 3)
    : TRANSLATED.check(address, "ipv6")
    ? groups.slice(6)
    : null;
  return pair?.flatMap((one) => [one >> 8, one & 255]).join(".") ?? null;
}

function blockList(
  ranges: readonly (readonly [network: string, prefix: number])[],
): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of ranges) {
    list.addSubnet(network, prefix, isIP(network) === 6 ? "ipv6" : "ipv4");
  }
  return list;
}

/**
 * Reads the address of a target.
 *
 * @throws {TypeError} When webhooks cannot or must not be sent there.
 */
export function readTargetUrl(text: string, name: string): URL {
  const url = URL.parse(text);
  if (url?.protocol !== "https:" && url?.protocol !== "http:") {
    throw new TypeError(
      `Wrong ${name}: ${
        JSON.stringify(shownText(text))
      } is not an http or https address; write for example ` +
        "https://shop.example/hooks",
    );
  }
  const shown = targetName(url);
  if (url.username !== "" || url.password !== "") {
    throw new TypeError(
      `Wrong ${name}: ${shown} holds a user or a password; take them out, ` +
        "the signature shows who sends",
    );
  }
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const kind = isIP(host) === 0 ? null : addressKind(host);
  if (kind === "forbidden") {
    throw new TypeError(
      `Wrong ${name}: ${shown} is link-local, a cloud's metadata service or ` +
        "no address of one machine; nothing is sent there, because clouds keep " +
        "credentials at such addresses",
    );
  }
  if (kind === "public" && url.protocol === "http:") {
    throw new TypeError(
      `Wrong ${name}: ${shown} is on the public network; use https`,
    );
  }
  url.hash = "";
  return url;
}

/** The address without what may be secret in it: user, query and fragment. */
export function targetName(url: URL): string {
  return `${url.origin}${url.pathname}`;
}

/** A text that is not an address, without what may be a password in it. */
function shownText(text: string): string {
  return text.replace(/[?#].*$/s, "").replace(/^.*@/s, "").slice(0, 200);
}

/** A variable, where this process may read it. */
function allowedEnv(name: string): string | undefined {
  const isAllowed = typeof Deno === "undefined" ||
    Deno.permissions.querySync({ name: "env", variable: name }).state ===
      "granted";
  return isAllowed ? process.env[name] : undefined;
}

/** Variables that name a proxy, the one that counts first. */
const VARIABLES = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];

/**
 * The variable that names the proxy through which the runtime's own `fetch` asks
 * an address; null for none. Receivers and alarms go the way of the service.
 */
export function proxyOf(
  url: URL,
  env: (name: string) => string | undefined = allowedEnv,
): string | null {
  // Node asks through a proxy only where it is told to.
  const isNode = typeof Deno === "undefined" && !("bun" in process.versions);
  if (isNode && env("NODE_USE_ENV_PROXY") !== "1") return null;
  if (url.protocol !== "https:") return null;
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1").toLowerCase();
  if (isIP(host) !== 0 && addressKind(host) !== "public") return null;
  const exempt = (env("NO_PROXY") ?? env("no_proxy") ?? "").toLowerCase()
    .split(",").map((one) => one.trim().replace(/^\*?\./, ""));
  const isExempt = exempt.some((one) =>
    one === "*" || (one !== "" && (host === one || host.endsWith(`.${one}`)))
  );
  return isExempt
    ? null
    : VARIABLES.find((name) => (env(name) ?? "") !== "") ?? null;
}

/** How a request gets to its receiver. */
interface RequestRoute {
  /**
   * IP addresses to connect to, the first one first. The name in the address of
   * the request is not resolved again.
   */
  readonly addresses: readonly string[];
  /** Connections to use again. @default {one that is closed afterwards} */
  readonly connections?: KeptConnections;
}

/** What is posted. */
interface PostInit {
  /** Headers, by name. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body. */
  readonly body: string;
  /** Aborts it. */
  readonly signal: AbortSignal;
}

/** Connections that stay open between two requests. */
export class KeptConnections {
  /** Those of `http`. */
  readonly http: http.Agent = new http.Agent({ keepAlive: true });
  /** Those of `https`. */
  readonly https: https.Agent = new https.Agent({ keepAlive: true });

  /** Closes all of them. */
  close(): void {
    this.http.destroy();
    this.https.destroy();
  }
}

/**
 * Posts to addresses that were checked before, whatever the host name resolves
 * to meanwhile. Where one of them does not take the connection soon, the next is
 * tried beside it. Redirects are not followed.
 *
 * @throws What the connection failed with.
 */
export async function pinnedFetch(
  url: string,
  init: PostInit,
  { addresses, connections }: RequestRoute,
): Promise<Response> {
  const { protocol, port } = new URL(url);
  const number = port !== "" ? Number(port) : protocol === "https:" ? 443 : 80;
  const [first] = addresses;
  if (first === undefined) throw new Error("Its host name has no address");
  const allowed = addresses.filter((address) => mayConnect(address, number));
  if (allowed.length > 0) return await post(url, init, allowed, connections);
  const error = new Error(
    `No permission to connect to ${first}, port ${number}: allow it with ` +
      "--allow-net",
  );
  throw Object.assign(error, { code: "EPERM" });
}

/** How long an address has before the next one is tried beside it, ms. */
const RACED = { autoSelectFamily: true, autoSelectFamilyAttemptTimeout: 250 };

function post(
  address: string,
  { headers, body, signal }: PostInit,
  addresses: readonly string[],
  connections: KeptConnections | undefined,
): Promise<Response> {
  const url = new URL(address);
  const secure = url.protocol === "https:";
  const answered = Promise.withResolvers<Response>();
  const request = (secure ? https : http).request(url, {
    method: "POST",
    headers: {
      ...headers,
      "content-length": new TextEncoder().encode(body).length,
    },
    agent: connections?.[secure ? "https" : "http"] ?? false,
    lookup: lookupOf(addresses),
    ...RACED,
  });
  const abort = () => {
    answered.reject(signal.reason);
    request.destroy();
  };
  request.on("error", answered.reject);
  request.on("response", (message) => {
    try {
      answered.resolve(responseOf(message));
    } catch (error) {
      request.destroy();
      answered.reject(error);
    }
  });
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  request.end(body);
  return answered.promise;
}

/** Answers with what was found before: `all` of it, or the first address. */
function lookupOf(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_name, options, answer) => {
    const [first] = all;
    if (options.all === true) answer(null, all);
    else answer(null, first?.address ?? "", first?.family);
  };
}

/**
 * Whether this process may connect there. Deno reports a missing permission
 * where it cannot be caught, which would end the process.
 */
function mayConnect(address: string, port: number): boolean {
  if (typeof Deno === "undefined") return true;
  const host = isIP(address) === 6 ? `[${address}]` : address;
  const { state } = Deno.permissions.querySync({
    name: "net",
    host: `${host}:${port}`,
  });
  return state === "granted";
}

/** Statuses that have no body. */
const BODILESS = new Set([204, 205, 304]);

function responseOf(message: http.IncomingMessage): Response {
  const { statusCode: status = 0 } = message;
  const headers = new Headers();
  const retryAfter = message.headers["retry-after"];
  if (retryAfter !== undefined) headers.set("retry-after", retryAfter);
  if (BODILESS.has(status)) {
    message.resume();
    return new Response(null, { status, headers });
  }
  const body = Readable.toWeb(message) as ReadableStream<
    Uint8Array<ArrayBuffer>
  >;
  return new Response(body, { status, headers });
}

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

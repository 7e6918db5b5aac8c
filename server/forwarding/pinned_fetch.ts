import http from "node:http";
import https from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { Readable } from "node:stream";

/** How a request gets to its receiver. */
export interface RequestRoute {
  /**
   * IP addresses to connect to, the first one first. The name in the address of
   * the request is not resolved again.
   */
  readonly addresses: readonly string[];
  /** Connections to use again. @default {one that is closed afterwards} */
  readonly connections?: KeptConnections;
}

/** What is posted. */
export interface PostInit {
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

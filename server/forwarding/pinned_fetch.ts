import http from "node:http";
import https from "node:https";
import { isIP } from "node:net";
import { Readable } from "node:stream";
import { errorCode } from "../../core/guards.ts";

/** How a request gets to its receiver. */
export interface RequestRoute {
  /**
   * IP addresses to connect to, the first one first. The name in the address of
   * the request is only passed on to the receiver: the name is not resolved
   * again.
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

/** What a connection fails with before anything was sent over it. */
const NOT_CONNECTED = new Set([
  "ECONNREFUSED",
  "EADDRNOTAVAIL",
  "EHOSTUNREACH",
  "ENETUNREACH",
]);

/**
 * Posts to an address that was checked before, whatever the host name resolves
 * to meanwhile. Redirects are not followed.
 *
 * @param url The address, `http` or `https`.
 * @param init Headers, body, and what aborts it.
 * @param route Where to connect to.
 * @returns The answer; its body has to be read or cancelled.
 * @throws What the connection failed with.
 */
export async function pinnedFetch(
  url: string,
  init: PostInit,
  { addresses, connections }: RequestRoute,
): Promise<Response> {
  return await firstThatConnects(
    addresses,
    (address) => post(new URL(url), init, address, connections),
  );
}

/**
 * Tries one address after another until one takes the connection.
 *
 * @param addresses The addresses.
 * @param attempt Sends to one of them.
 * @returns Result of the first attempt that had one.
 * @throws What the last attempt failed with, or one after it had connected.
 */
export async function firstThatConnects<T>(
  addresses: readonly string[],
  attempt: (address: string) => Promise<T>,
): Promise<T> {
  for (const [at, address] of addresses.entries()) {
    try {
      return await attempt(address);
    } catch (error) {
      const isLast = at === addresses.length - 1;
      if (isLast || !NOT_CONNECTED.has(String(errorCode(error)))) throw error;
    }
  }
  throw new Error("Its host name has no address");
}

function post(
  url: URL,
  { headers, body, signal }: PostInit,
  address: string,
  connections: KeptConnections | undefined,
): Promise<Response> {
  const secure = url.protocol === "https:";
  const port = url.port === "" ? (secure ? 443 : 80) : Number(url.port);
  if (!mayConnect(address, port)) {
    const error = new Error(
      `No permission to connect to ${address}, port ${port}: allow it with ` +
        "--allow-net",
    );
    return Promise.reject(Object.assign(error, { code: "EPERM" }));
  }
  const name = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const answered = Promise.withResolvers<Response>();
  const request = (secure ? https : http).request({
    method: "POST",
    host: address,
    port,
    path: url.pathname + url.search,
    headers: {
      ...headers,
      host: url.host,
      "content-length": new TextEncoder().encode(body).length,
    },
    agent: connections?.[secure ? "https" : "http"] ?? false,
    // The certificate has to be that of the name, not of the address.
    ...(secure && isIP(name) === 0 ? { servername: name } : {}),
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

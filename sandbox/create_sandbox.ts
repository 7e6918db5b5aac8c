import { Hono } from "hono";
import { openHttpServer } from "../core/serving/open_http_server.ts";
import { answer } from "./answer.ts";
import { apiRoutes } from "./api.ts";
import { controlRoutes } from "./controls.ts";
import { backfill, populate } from "./customers.ts";
import { oddFieldsOf } from "./lists.ts";
import { Service } from "./service.ts";
import { widgetRoutes } from "./widget.ts";
import type {
  BackfillOptions,
  PopulateOptions,
  Sandbox,
  SandboxOptions,
} from "./sandbox.ts";

/** Largest request body read, in bytes. */
const MAX_BODY_BYTES = 64 * 1024;

/**
 * Sets up the service in a box; it does nothing until it is used.
 *
 * @param options Seed, key, clock, webhook address, faults.
 * @returns The sandbox; mount its `fetch`, and close it at the end.
 * @throws {TypeError} If a fault is not known.
 * @throws {RangeError} If the rate of a fault is out of range.
 *
 * @example Create an order and read it through the API
 * ```ts
 * import { createSandbox } from "@rampkit/onramp/sandbox";
 * import assert from "node:assert/strict";
 *
 * await using sandbox = createSandbox({ seed: 7 });
 * const order = sandbox.createOrder({ currencyAmount: "25" });
 * sandbox.advance(order.orderId, "pay");
 * const answer = await sandbox.fetch(
 *   new Request(`http://sandbox/api/external/orders?search_by=${order.orderId}`, {
 *     headers: { "X-Api-Key": sandbox.apiKey },
 *   }),
 * );
 * const { data } = await answer.json();
 * assert.equal(data[0].status, "progress");
 * assert.equal(data[0].currency_amount, 25);
 * ```
 *
 * @example Press the Test button
 * ```ts
 * import { createSandbox } from "@rampkit/onramp/sandbox";
 * import assert from "node:assert/strict";
 *
 * await using sandbox = createSandbox({
 *   webhookUrl: "http://partner/webhooks/secret",
 *   fetch: () => Promise.resolve(new Response(null, { status: 204 })),
 * });
 * const delivery = await sandbox.pressTest();
 * assert.equal(delivery.state, "received");
 * assert.equal(delivery.attempts[0]?.status, 204);
 * ```
 */
export function createSandbox(options: SandboxOptions = {}): Sandbox {
  const service = new Service(options);
  const app = new Hono();
  app.route("/api", apiRoutes(service));
  app.route(`/${service.partnerId}/widget`, widgetRoutes(service));
  app.route("/control", controlRoutes(service));
  app.get("/", (context) => context.redirect("/control"));
  app.notFound(() => answer(404, { message: "not found" }));
  return Object.assign(service, {
    oddFields: (id: string) => {
      const entity = service.user(id) === null ? "order" : "user";
      return [...oddFieldsOf(service.injector, entity, id).keys()];
    },
    populate: (options: PopulateOptions) =>
      service.run(populate(service, options)),
    backfill: (options: BackfillOptions) => backfill(service, options),
    fetch: async (request: Request) => {
      const declared = Number(request.headers.get("content-length") ?? 0);
      const response = declared > MAX_BODY_BYTES
        ? answer(413, { message: "request body is too large" })
        : await app.fetch(request);
      const { status, statusText } = response;
      const headers = new Headers(response.headers);
      headers.set("date", statedDate(service));
      headers.set("x-content-type-options", "nosniff");
      return new Response(response.body, { status, statusText, headers });
    },
  });
}

/** The `Date` header of an answer, right or wrong. */
function statedDate(service: Service): string {
  const { injector } = service;
  const nowMs = service.now();
  if (!injector.strikes("wrongDate")) return new Date(nowMs).toUTCString();
  const random = injector.stream("wrongDate.ms");
  const wrongMs = random.pick([
    Date.UTC(2099, 0, 1),
    Date.UTC(1970, 0, 2),
    nowMs + random.int(1, 14) * 3_600_000,
    nowMs - random.int(1, 14) * 3_600_000,
  ]);
  return new Date(wrongMs).toUTCString();
}

/** How a sandbox is served. */
export interface ServeSandboxOptions extends SandboxOptions {
  /**
   * Port; 0 takes a free one.
   * @default {8790}
   */
  readonly port?: number;
  /**
   * Address to listen on.
   * @default {"127.0.0.1"}
   */
  readonly hostname?: string;
  /**
   * Names by which requests may reach it, besides those of the machine itself
   * (`localhost`, `127.0.0.1`, `[::1]`) and `hostname`; others get 403, so that
   * no web page reaches it by a name of its own.
   * @default {[]}
   */
  readonly allowedHosts?: readonly string[];
  /**
   * A sandbox already set up; the options above are then its own.
   * @default {a new one}
   */
  readonly sandbox?: Sandbox;
}

/** A sandbox that listens. */
export interface ServedSandbox extends AsyncDisposable {
  /** The sandbox. */
  readonly sandbox: Sandbox;
  /** Its address, without a slash at the end. */
  readonly url: string;
  /** Stops listening and closes the sandbox. */
  close(): Promise<void>;
}

/**
 * Serves a sandbox over HTTP, for any language, once it listens. Needs
 * permission to listen.
 *
 * Without a clock of its own it uses the machine's, which its control page can
 * move ahead: hours of retries then pass in a moment.
 *
 * @param options Port, address, and those of the sandbox.
 * @returns The sandbox and its address.
 * @throws {Error} With `code` `EADDRINUSE` when the port is taken.
 *
 * @example Ask a served sandbox
 * ```ts
 * import { serveSandbox } from "@rampkit/onramp/sandbox";
 * import assert from "node:assert/strict";
 *
 * await using served = await serveSandbox({ port: 0 });
 * const answer = await fetch(`${served.url}/api/external/orders`);
 * assert.equal(answer.status, 401);
 * await answer.body?.cancel();
 * ```
 */
export async function serveSandbox(
  options: ServeSandboxOptions = {},
): Promise<ServedSandbox> {
  const { port = 8790, hostname = "127.0.0.1", allowedHosts = [] } = options;
  const { sandbox: given, ...rest } = options;
  const isOurs = hostCheck([hostname, ...allowedHosts]);
  const sandbox = given ?? createSandbox(rest);
  const server = await openHttpServer({
    port,
    hostname,
    handler: (request) => {
      if (isOurs(request)) return sandbox.fetch(request);
      const error = "The request names another host than this machine; to " +
        "allow it, start the sandbox with --allow-host NAME";
      return answer(403, { error });
    },
  });
  const close = async () => {
    await sandbox.close();
    await server.shutdown();
  };
  return {
    sandbox,
    url: `http://${hostname}:${server.port}`,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Names by which this machine calls itself. */
const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Makes the check of the `Host` that a request names. A stranger's page can
 * point its own name at 127.0.0.1 once it is open (DNS rebinding); the browser
 * then takes this server for the stranger's, and only `Host` shows the
 * difference.
 */
export function hostCheck(
  allowed: readonly string[] = [],
): (request: Request) => boolean {
  const bare = (name: string) => name.toLowerCase().replace(/^\[|\]$/g, "");
  const names = new Set(allowed.map(bare));
  const isKnown = (url: string): boolean => {
    const name = URL.parse(url)?.hostname ?? "";
    return LOOPBACK.test(name) || names.has(bare(name));
  };
  return ({ url, headers }) =>
    isKnown(url) && isKnown(`http://${headers.get("host") ?? "localhost"}`);
}

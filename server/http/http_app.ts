import { isIP } from "node:net";
import { Hono, type MiddlewareHandler } from "hono";
import { secureHeaders } from "hono/secure-headers";
import type { StandingCondition } from "../../resources/health/finding.ts";
import type { ConnectionInfo } from "../../webhooks/endpoint_options.ts";
import { PROMETHEUS_TYPE } from "../monitoring/prometheus/prometheus_metrics.ts";

/**
 * Makes the check of the `Host` that a request names. A page of a stranger can
 * point its own name at this machine once it is open (DNS rebinding); the
 * browser then takes this server for the stranger's, and only `Host` tells.
 * That needs a name, so an address in digits is always fine.
 */
export function hostGuard(
  names: readonly string[],
): (request: Pick<Request, "url" | "headers">) => boolean {
  const allowed = new Set(names.map((name) => name.toLowerCase()));
  const isKnown = (address: string): boolean => {
    // What a client writes into `Host` may be no name at all.
    const hostname = URL.parse(address)?.hostname;
    if (hostname === undefined) return false;
    return hostname === "localhost" || hostname.endsWith(".localhost") ||
      isIP(hostname.replace(/^\[|\]$/g, "")) !== 0 || allowed.has(hostname);
  };
  return (request) => {
    const stated = request.headers.get("host");
    return isKnown(request.url) &&
      (stated === null || isKnown(`http://${stated}`));
  };
}

/**
 * Whether a page of another site made the browser send a request, other than by
 * a link that a person followed. Such a page cannot read the answer, but it
 * could take the places of those who wait, or measure how long answers take.
 * Every browser of today states this; who asks without a browser does not.
 */
export function isFromOtherSite({ headers }: Request): boolean {
  const site = headers.get("sec-fetch-site");
  const mode = headers.get("sec-fetch-mode");
  const isLink = mode === "navigate" &&
    (headers.get("sec-fetch-dest") ?? "document") === "document";
  return mode !== null && !isLink &&
    (site === "cross-site" || site === "same-site");
}

/**
 * Whether an action was sent by a page of this server. A proxy may speak TLS
 * in front of it, so the scheme is not compared.
 */
export function isOwnOrigin(request: Request): boolean {
  const origin = request.headers.get("origin");
  const from = origin === null ? null : URL.parse(origin);
  const host = request.headers.get("host") ?? new URL(request.url).host;
  return from !== null && from.host === host.toLowerCase();
}

/** The `Host` of a request, as a message names it. */
export function shownHost({ headers }: Pick<Request, "headers">): string {
  return JSON.stringify((headers.get("host") ?? "").slice(0, 100));
}

/** Characters that are gathered before they are sent. */
const AT_ONCE = 16 * 1024;

/**
 * A text as bytes. No more of it is made than the reader takes, and nothing more
 * once the reader has left.
 */
export function textStream(
  parts: AsyncIterable<string>,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const iterator = parts[Symbol.asyncIterator]();
  const utf8 = new TextEncoder();
  return new ReadableStream({
    pull: async (controller) => {
      let text = "";
      let ended = false;
      while (!ended && text.length < AT_ONCE) {
        const { done = false, value } = await iterator.next();
        ended = done;
        if (!done) text += value;
      }
      if (text !== "") controller.enqueue(utf8.encode(text));
      if (ended) controller.close();
    },
    cancel: async () => {
      await iterator.return?.();
    },
  }, { highWaterMark: 0 });
}

/** How ready the endpoint is to take deliveries. */
export interface Readiness {
  /** Whether the ledger took a write just now. */
  readonly writable: boolean;
  /** Events that are stored and not yet folded; null where it is not known. */
  readonly lag: number | null;
  /** Deliveries that wait in the spool. */
  readonly spooled: number;
  /** Why nothing durable takes deliveries; null when something does. */
  readonly problem: string | null;
  /** Problems that do not stop deliveries, one sentence each. */
  readonly degraded: readonly string[];
  /** Everything that is wrong, as `rampkit doctor` explains it. */
  readonly conditions: readonly StandingCondition[];
}

/** What the path of a delivery begins with; the secret follows. */
export const WEBHOOK_PATH = "/webhooks/";

/** What the HTTP app is made of. */
interface HttpAppOptions {
  /** The webhook endpoint. */
  readonly endpoint: (
    request: Request,
    info?: ConnectionInfo,
  ) => Promise<Response>;
  /** Called on a POST to a path that is not the endpoint's. */
  readonly onWrongPath?: () => void;
  /** Looks at the ledger. */
  readonly readiness: () => Promise<Readiness>;
  /** Writes the metrics for Prometheus. @default {no `GET /metrics`} */
  readonly metrics?: () => string;
  /** Steady clock, ms. @default performance.now */
  readonly steadyNow?: () => number;
}

/** Headers of every answer but those of the console. */
export const ownHeaders: MiddlewareHandler = secureHeaders({
  // The proxy that ends TLS decides this, for the whole host.
  strictTransportSecurity: false,
});

/** A look at the ledger answers all who ask within this time after it, ms. */
const LOOK_LASTS_MS = 250;

/**
 * The routes of `serve`: `POST /webhooks/{secret}`, `GET /healthz` (the process
 * answers), `GET /readyz` (200 while deliveries are kept durably, else 503) and
 * `GET /metrics` (for Prometheus).
 */
export function httpApp(
  options: HttpAppOptions,
): (request: Request, info?: ConnectionInfo) => Response | Promise<Response> {
  const app = new Hono();
  app.use(ownHeaders);
  app.get("/healthz", (c) => c.json({ ok: true }));
  const readinessNow = seldom(options.readiness, options.steadyNow);
  app.get("/readyz", async (c) => {
    const readiness = await readinessNow();
    return c.json({ ok: readiness.problem === null, ...readiness }, {
      status: readiness.problem === null ? 200 : 503,
    });
  });
  const { metrics } = options;
  if (metrics !== undefined) {
    const metricsNow = seldom(
      () => Promise.resolve(metrics()),
      options.steadyNow,
    );
    app.get(
      "/metrics",
      async (c) =>
        c.body(await metricsNow(), 200, { "content-type": PROMETHEUS_TYPE }),
    );
  }
  app.notFound((c) => {
    if (c.req.method === "POST") options.onWrongPath?.();
    return c.json({ error: "Not found" }, 404);
  });
  return (request, info) =>
    // Deliveries skip the router: this is the path that must stay short.
    isDelivery(request) ? options.endpoint(request, info) : app.fetch(request);
}

/**
 * Looks seldom, however many ask: anybody may ask whether the endpoint is ready,
 * which writes to the ledger, and for the metrics.
 */
function seldom<Found>(
  look: () => Promise<Found>,
  now: () => number = () => performance.now(),
): () => Promise<Found> {
  let looking: Promise<Found> | null = null;
  let last: { readonly found: Found; readonly atMs: number } | null = null;
  return () => {
    if (last !== null && now() - last.atMs < LOOK_LASTS_MS) {
      return Promise.resolve(last.found);
    }
    return looking ??= look().then((found) => {
      last = { found, atMs: now() };
      return found;
    }).finally(() => {
      looking = null;
    });
  };
}

function isDelivery(request: Request): boolean {
  const from = request.url.indexOf("/", request.url.indexOf("//") + 2);
  return request.url.startsWith(WEBHOOK_PATH, from);
}

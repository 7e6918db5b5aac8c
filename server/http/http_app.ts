import { Hono, type MiddlewareHandler } from "hono";
import { secureHeaders } from "hono/secure-headers";
import type { StandingCondition } from "../../resources/health/finding.ts";
import type { ConnectionInfo } from "../../webhooks/endpoint_options.ts";
import { PROMETHEUS_TYPE } from "../monitoring/prometheus/prometheus_text.ts";

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
export interface HttpAppOptions {
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

import { type Attributes, metrics, type Span, trace } from "@opentelemetry/api";
import {
  DURATION_BOUNDS,
  type Meter,
  type MeterCounter,
  type MeterLabels,
  type MeterRecorder,
} from "../../core/telemetry/meter.ts";
import type { RefusalReason } from "./refusal.ts";

const SCOPE = "@rampkit/onramp/webhooks";

/** Metrics and traces of an endpoint. */
export class EndpointTelemetry {
  readonly #deliveries: MeterCounter;
  readonly #refused: MeterCounter;
  readonly #duration: MeterRecorder;
  readonly #labels = new Map<number, MeterLabels>();
  readonly #route: string;

  constructor(
    { prefix, route, tracedPaths, meter = metrics.getMeter(SCOPE) }: {
      readonly prefix: string | null;
      readonly route: string;
      readonly tracedPaths: readonly string[];
      readonly meter: Meter | undefined;
    },
  ) {
    this.#route = route;
    this.#deliveries = meter.createCounter("rampkit.webhook.deliveries", {
      description: "Webhook requests by answer",
      unit: "{request}",
    });
    this.#refused = meter.createCounter("rampkit.webhook.refused", {
      description: "Refused requests by reason",
      unit: "{request}",
    });
    this.#duration = meter.createHistogram("rampkit.webhook.answer.duration", {
      description: "Time from the arrival of a webhook to its answer",
      unit: "s",
      advice: { explicitBucketBoundaries: [...DURATION_BOUNDS] },
    });
    hidePathsFromSpans({ prefix, route, tracedPaths });
  }

  /** Names the route of the request being handled, in place of its address. */
  hideAddress(): void {
    hideActiveAddress(this.#route);
  }

  /** Counts one request that was refused. */
  refused(reason: RefusalReason): void {
    this.#refused.add(1, { reason });
  }

  /** Counts one answer. */
  answered(answer: number, durationMs: number): void {
    let labels = this.#labels.get(answer);
    if (labels === undefined) {
      labels = { answer };
      this.#labels.set(answer, labels);
    }
    this.#deliveries.add(1, labels);
    this.#duration.record(durationMs / 1000, labels);
  }
}

/** Attributes in which instrumentations put the address of a request. */
const ADDRESS_ATTRIBUTES = new Set([
  "url.full",
  "url.path",
  "url.query",
  "url.original",
  "http.url",
  "http.target",
]);

/** Written in place of a path that may hold a secret. */
const HIDDEN = "/{path}";

/** Prefixes of secret paths, each with the route that is written instead. */
const routes = new Map<string, string>();
/** Paths that are written as they are. */
const traced = new Set<string>(["/"]);
/** Prototypes of span classes that were changed. */
const changed = new WeakSet<object>();

/**
 * Keeps every path out of the runtime's automatic spans. An address that was
 * mistyped in the service's dashboard holds the secret under any path, so only
 * paths that are known to hold none are written.
 *
 * Deno writes the address into a span before the handler runs, and a later value
 * is added to it instead of replacing it. So the methods of its span class are
 * replaced by ones that remove addresses.
 */
function hidePathsFromSpans(
  { prefix, route, tracedPaths }: {
    readonly prefix: string | null;
    readonly route: string;
    readonly tracedPaths: readonly string[];
  },
): void {
  if (prefix !== null) routes.set(prefix, route);
  for (const path of tracedPaths) traced.add(path);
  const probe = trace.getTracer(SCOPE).startSpan("probe");
  const spanClass: unknown = Object.getPrototypeOf(probe);
  const idle = trace.wrapSpanContext(probe.spanContext());
  // Without a tracer there are no spans and no class to change.
  if (spanClass === Object.getPrototypeOf(idle) || !isSpan(spanClass)) return;
  if (changed.has(spanClass)) return;
  changed.add(spanClass);
  const { setAttribute } = spanClass;
  spanClass.setAttribute = function (key, value): Span {
    if (typeof value !== "string" || !ADDRESS_ATTRIBUTES.has(key)) {
      return setAttribute.call(this, key, value);
    }
    // A query may hold a secret too.
    return key === "url.query"
      ? this
      : setAttribute.call(this, key, withoutPath(value));
  };
  spanClass.setAttributes = function (attributes: Attributes): Span {
    for (const [key, value] of Object.entries(attributes)) {
      if (value !== undefined) this.setAttribute(key, value);
    }
    return this;
  };
}

/** Names a route in place of the address in the active span. */
function hideActiveAddress(route: string): void {
  const span = trace.getActiveSpan();
  if (span === undefined) return;
  span.setAttribute("http.route", route);
  // A changed span class never stored the address.
  if (changed.has(Object.getPrototypeOf(span))) return;
  for (const key of ADDRESS_ATTRIBUTES) span.setAttribute(key, route);
}

/** An address or a path, without the parts that may be secret. */
function withoutPath(address: string): string {
  const scheme = address.indexOf("://");
  const start = scheme === -1 ? 0 : address.indexOf("/", scheme + 3);
  if (start === -1) return address;
  const [path = ""] = address.slice(start).split(/[?#]/);
  const origin = address.slice(0, start);
  if (traced.has(path)) return origin + path;
  for (const [prefix, route] of routes) {
    if (path.startsWith(prefix)) return origin + route;
  }
  return origin + HIDDEN;
}

function isSpan(value: unknown): value is Span {
  return typeof value === "object" && value !== null &&
    "setAttribute" in value && typeof value.setAttribute === "function";
}

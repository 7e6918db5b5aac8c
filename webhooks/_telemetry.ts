import {
  type Attributes,
  type Counter,
  type Histogram,
  metrics,
  type ObservableGauge,
  type Span,
  trace,
} from "@opentelemetry/api";

const SCOPE = "@rampkit/onramp/webhooks";

/** Attributes in which instrumentations put the address of a request. */
const ADDRESS_ATTRIBUTES = new Set([
  "url.full",
  "url.path",
  "url.query",
  "url.original",
  "http.url",
  "http.target",
]);

/** What is measured at an endpoint. */
export class EndpointTelemetry {
  readonly #deliveries: Counter;
  readonly #quarantined: Counter;
  readonly #duration: Histogram;
  readonly #spoolDepth: ObservableGauge;
  readonly #labels = new Map<string, Attributes>();
  readonly #route: string;

  constructor(prefix: string, route: string, spoolDepth: () => number) {
    this.#route = route;
    const meter = metrics.getMeter(SCOPE);
    this.#deliveries = meter.createCounter("rampkit.webhook.deliveries", {
      description: "Webhook requests by event type and answer",
      unit: "{request}",
    });
    this.#quarantined = meter.createCounter("rampkit.webhook.quarantined", {
      description: "Stored bodies that are no JSON object",
      unit: "{delivery}",
    });
    this.#duration = meter.createHistogram("rampkit.webhook.answer.duration", {
      description: "Time from the arrival of a webhook to its answer",
      unit: "s",
    });
    this.#spoolDepth = meter.createObservableGauge(
      "rampkit.webhook.spool.depth",
      {
        description: "Deliveries that wait on the disk for the ledger",
        unit: "{delivery}",
      },
    );
    this.#spoolDepth.addCallback((result) => result.observe(spoolDepth()));
    hideSecretFromSpans(prefix, route);
  }

  /** Names the route of the request being handled, in place of its address. */
  hideAddress(): void {
    const span = trace.getActiveSpan();
    if (span === undefined) return;
    span.setAttribute("http.route", this.#route);
    // A span class that was taught never took the address.
    if (taught.has(Object.getPrototypeOf(span))) return;
    for (const key of ADDRESS_ATTRIBUTES) span.setAttribute(key, this.#route);
  }

  /** Counts one answer. `type` is one of a bounded set. */
  answered(type: string, answer: number, durationMs: number): void {
    const key = `${type} ${answer}`;
    let labels = this.#labels.get(key);
    if (labels === undefined) {
      labels = { type, answer };
      this.#labels.set(key, labels);
    }
    this.#deliveries.add(1, labels);
    this.#duration.record(durationMs / 1000, labels);
    if (type === "quarantined") this.#quarantined.add(1);
  }
}

/** Prefixes below which a path is secret, each with what to say instead. */
const hidden = new Map<string, string>();
/** Span classes that were taught, by prototype. */
const taught = new WeakSet<object>();

/**
 * Keeps the secret out of the runtime's automatic spans.
 *
 * Deno writes the address into a span before the handler runs, and there a
 * later value is added to the earlier one instead of taking its place. So its
 * span class itself is taught not to take addresses below `prefix`.
 */
function hideSecretFromSpans(prefix: string, route: string): void {
  hidden.set(prefix, route);
  const probe = trace.getTracer(SCOPE).startSpan("probe");
  const spanClass: unknown = Object.getPrototypeOf(probe);
  const idle = trace.wrapSpanContext(probe.spanContext());
  // Without a tracer there are no spans, and no class to teach.
  if (spanClass === Object.getPrototypeOf(idle) || !isSpan(spanClass)) return;
  if (taught.has(spanClass)) return;
  taught.add(spanClass);
  const { setAttribute } = spanClass;
  const secretive = new WeakSet<Span>();
  spanClass.setAttribute = function (key, value): Span {
    if (typeof value !== "string" || !ADDRESS_ATTRIBUTES.has(key)) {
      return setAttribute.call(this, key, value);
    }
    const safe = withoutSecret(value);
    if (safe !== value) secretive.add(this);
    // A query follows its address, and may say as much.
    return key === "url.query" && secretive.has(this)
      ? this
      : setAttribute.call(this, key, safe);
  };
}

function isSpan(value: unknown): value is Span {
  return typeof value === "object" && value !== null &&
    "setAttribute" in value && typeof value.setAttribute === "function";
}

function withoutSecret(address: string): string {
  const scheme = address.indexOf("://");
  const path = scheme === -1 ? 0 : address.indexOf("/", scheme + 3);
  if (path === -1) return address;
  for (const [prefix, route] of hidden) {
    // Anywhere in the path: a secret under a wrong path is a secret still.
    const at = address.indexOf(prefix, path);
    if (at !== -1) return address.slice(0, at) + route;
  }
  return address;
}

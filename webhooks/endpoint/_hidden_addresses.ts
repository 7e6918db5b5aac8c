/** Attributes in which tracers put the address of a request. */
const ADDRESS_ATTRIBUTES = new Set([
  "url.full",
  "url.path",
  "url.query",
  "url.original",
  "http.url",
  "http.target",
]);

/** Where OpenTelemetry, Deno's own included, registers what traces a process. */
const REGISTERED = Symbol.for("opentelemetry.js.api.1");

/** What is used of a span. */
interface Span {
  setAttribute(key: string, value: unknown): Span;
  setAttributes(attributes: Readonly<Record<string, unknown>>): Span;
}

/** Prototypes of span classes that were changed. */
const changed = new WeakSet<object>();

/**
 * Keeps the paths of requests out of spans that others record. Each may hold the
 * secret, also one that was mistyped in the service's dashboard. Deno
 * (`OTEL_DENO=true`) writes the address into a span before a handler runs, so
 * the methods of the span class are replaced.
 */
export function hideAddressesFromSpans(): void {
  const { trace } = Object(Reflect.get(globalThis, REGISTERED));
  const probe = trace?.getTracer?.("@rampkit/onramp").startSpan("probe");
  if (typeof probe?.setAttribute !== "function") return;
  const spanClass: Span = Object.getPrototypeOf(probe);
  if (changed.has(spanClass)) return;
  changed.add(spanClass);
  const { setAttribute } = spanClass;
  spanClass.setAttribute = function (key, value) {
    if (typeof value !== "string" || !ADDRESS_ATTRIBUTES.has(key)) {
      return setAttribute.call(this, key, value);
    }
    const [origin = ""] = /^[a-z]+:\/\/[^/?#]*/i.exec(value) ?? [];
    return setAttribute.call(this, key, `${origin}/{path}`);
  };
  spanClass.setAttributes = function (attributes) {
    for (const [key, value] of Object.entries(attributes)) {
      if (value !== undefined) this.setAttribute(key, value);
    }
    return this;
  };
}

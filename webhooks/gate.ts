import { timingSafeEqual } from "node:crypto";

const LONGEST = 256;
/** Most of an address in which a misplaced secret is looked for. */
const LONGEST_ADDRESS = 2048;
const MOST_PARTS = 32;

const encoder = new TextEncoder();

/**
 * Compares the secret in a path with every valid one. The time it takes tells
 * neither how much of it was right nor which secret it was.
 */
export class PathSecret {
  readonly #prefix: string | null;
  readonly #secrets: readonly string[];
  readonly #valid: readonly Uint8Array[];

  constructor(prefix: string | null, secrets: readonly string[]) {
    if (prefix !== null && !(prefix.startsWith("/") && prefix.endsWith("/"))) {
      throw new TypeError(
        `Cannot mount endpoint: path must begin and end with a slash, current value is "${prefix}"`,
      );
    }
    if (secrets.length === 0) {
      throw new RangeError(
        "Cannot mount endpoint: secrets is empty, name at least one",
      );
    }
    this.#prefix = prefix;
    this.#secrets = [...secrets];
    this.#valid = secrets.map((secret, index) => {
      const bytes = padded(secret);
      if (bytes !== null) return bytes;
      // The value itself must not get into a message.
      throw new RangeError(
        `Cannot mount endpoint: secrets[${index}] must have 1 to ${LONGEST} ` +
          "bytes",
      );
    });
  }

  /**
   * Whether the path of `url` ends in a valid secret, after the prefix; one
   * slash may follow.
   */
  matches(url: string): boolean {
    const scheme = url.indexOf("://");
    const start = url.indexOf("/", scheme === -1 ? 0 : scheme + 3);
    if (start === -1) return false;
    const query = url.indexOf("?", start);
    const whole = url.slice(start, query === -1 ? url.length : query);
    // Frameworks may send on to the same address with a slash.
    const path = whole.endsWith("/") ? whole.slice(0, -1) : whole;
    const prefix = this.#prefix ?? path.slice(0, path.lastIndexOf("/") + 1);
    return path.startsWith(prefix) && this.#isValid(path.slice(prefix.length));
  }

  /** Whether a valid secret is anywhere in the beginning of an address. */
  isIn(url: string): boolean {
    return url.slice(0, LONGEST_ADDRESS).split(/[/?&=]/).slice(0, MOST_PARTS)
      .some((part) => this.#isValid(part));
  }

  #isValid(encoded: string): boolean {
    const text = decoded(encoded);
    if (text === null || text.length > LONGEST) return false;
    const candidate = padded(text);
    if (candidate === null) return false;
    const equal = this.#valid.map((valid) => timingSafeEqual(valid, candidate));
    return equal.includes(true);
  }

  redact(text: string): string {
    let redacted = text;
    for (const secret of this.#secrets) {
      redacted = redacted.replaceAll(secret, "{secret}")
        .replaceAll(encodeURIComponent(secret), "{secret}");
    }
    return redacted;
  }
}

function decoded(text: string): string | null {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** A text in UTF-8, as wide as every other, with the number of its bytes. */
function padded(text: string): Uint8Array | null {
  const bytes = new Uint8Array(LONGEST + 2);
  const { read, written } = encoder.encodeInto(text, bytes.subarray(2));
  new DataView(bytes.buffer).setUint16(0, written);
  return text === "" || read < text.length ? null : bytes;
}

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

interface Span {
  setAttribute(key: string, value: unknown): Span;
  setAttributes(attributes: Readonly<Record<string, unknown>>): Span;
}

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

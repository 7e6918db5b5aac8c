import type {
  ConnectionInfo,
  RefusalReason,
  WebhookEndpointOptions,
} from "./endpoint_options.ts";
import { allowlist, connectionAddress } from "./proxied_address.ts";

/** Decides from path, address and method whether a request may deliver. */
export class RequestGate {
  readonly secret: PathSecret;
  readonly #isAllowed: ((address: string | null) => boolean) | null;
  readonly #clientAddress: NonNullable<WebhookEndpointOptions["clientAddress"]>;
  #lastNotAllowed: string | null = null;

  constructor(options: WebhookEndpointOptions) {
    this.secret = new PathSecret(options.path ?? null, options.secrets);
    this.#isAllowed = options.allowlist === undefined
      ? null
      : allowlist(options.allowlist);
    this.#clientAddress = options.clientAddress ?? connectionAddress;
  }

  /** Address of the latest refused request that knew the secret. */
  get lastNotAllowed(): string | null {
    return this.#lastNotAllowed;
  }

  /** Why a request may not deliver; null when it may. */
  refusalOf(
    request: Request,
    info: ConnectionInfo | undefined,
  ): RefusalReason | null {
    const address = this.#isAllowed === null
      ? null
      : this.#clientAddress(request, info);
    const isAllowed = this.#isAllowed?.(address) ?? true;
    if (!this.secret.matches(request.url)) {
      return this.secret.isIn(request.url)
        ? "misplaced_secret"
        : "wrong_secret";
    }
    if (!isAllowed) {
      this.#lastNotAllowed = address;
      return "not_allowed";
    }
    return request.method === "POST" ? null : "method";
  }
}

/** 32-bit words of a secret's fixed-width form. The last one is its length. */
const WORDS = 65;
const LONGEST = 4 * (WORDS - 1);
const encoder = new TextEncoder();

/**
 * Compares the secret in a path with every valid one. The time it takes tells
 * neither how much of it was right nor which secret it was.
 */
export class PathSecret {
  /** Path with a placeholder for the secret, for logs and traces. */
  readonly route: string;
  readonly #prefix: string | null;
  readonly #secrets: readonly string[];
  readonly #valid: readonly Uint32Array<ArrayBuffer>[];
  readonly #candidate = new Uint32Array(WORDS);

  /**
   * @param prefix What comes before the secret; null takes the last segment of
   * any path.
   */
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
    this.route = `${prefix ?? "/{path}/"}{secret}`;
    this.#secrets = [...secrets];
    this.#valid = secrets.map((secret, index) => {
      const width = new Uint32Array(WORDS);
      if (secret === "" || !widen(secret, width)) {
        // The value itself must not get into a message.
        throw new RangeError(
          `Cannot mount endpoint: secrets[${index}] must have 1 to ${LONGEST} ` +
            "bytes",
        );
      }
      return width;
    });
  }

  /**
   * Whether the path of `url` ends in a valid secret, after the prefix; one
   * slash may follow.
   */
  matches(url: string): boolean {
    const segment = this.#segment(url);
    return segment !== null && this.#isValid(segment);
  }

  /** Whether a valid secret is anywhere in the beginning of an address. */
  isIn(url: string): boolean {
    return url.slice(0, LONGEST_ADDRESS).split(/[/?&=]/).slice(0, MOST_PARTS)
      .map(decoded).some((part) => !!part && this.#isValid(part));
  }

  #isValid(text: string): boolean {
    if (!widen(text, this.#candidate)) return false;
    let matches = 0;
    for (const secret of this.#valid) {
      matches |= Number(differences(secret, this.#candidate) === 0);
    }
    return matches !== 0;
  }

  /** Replaces every valid secret in `text`. */
  redact(text: string): string {
    let redacted = text;
    for (const secret of this.#secrets) {
      redacted = redacted.replaceAll(secret, "{secret}")
        .replaceAll(encodeURIComponent(secret), "{secret}");
    }
    return redacted;
  }

  #segment(url: string): string | null {
    const scheme = url.indexOf("://");
    const start = url.indexOf("/", scheme === -1 ? 0 : scheme + 3);
    if (start === -1) return null;
    const query = url.indexOf("?", start);
    const whole = url.slice(start, query === -1 ? url.length : query);
    // Frameworks may send on to the same address with a slash.
    const path = whole.endsWith("/") ? whole.slice(0, -1) : whole;
    const prefix = this.#prefix ?? path.slice(0, path.lastIndexOf("/") + 1);
    if (!path.startsWith(prefix)) return null;
    return decoded(path.slice(prefix.length));
  }
}

/** Most of an address in which a misplaced secret is looked for. */
const LONGEST_ADDRESS = 2048;
const MOST_PARTS = 32;

function decoded(text: string): string | null {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/**
 * Writes `text` and its length into `width`; false when it is too long. The
 * fixed width makes every comparison as long as any other.
 */
function widen(text: string, width: Uint32Array<ArrayBuffer>): boolean {
  if (text.length > LONGEST) return false;
  const bytes = new Uint8Array(width.buffer, 0, LONGEST);
  bytes.fill(0);
  const { read, written } = encoder.encodeInto(text, bytes);
  width[WORDS - 1] = written;
  return read === text.length;
}

/** Zero only for equal values; takes the same time wherever they differ. */
function differences(a: Uint32Array, b: Uint32Array): number {
  let bits = 0;
  for (let word = 0; word < WORDS; word++) {
    bits |= (a[word] ?? 0) ^ (b[word] ?? 0);
  }
  return bits;
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

import { timingSafeEqual } from "node:crypto";

/** Bytes of the fixed-width form of a secret, its length included. */
const WIDTH = 258;
const LONGEST = WIDTH - 2;
const encoder = new TextEncoder();

/**
 * Finds the secret in a path and compares it with every valid one, without
 * the time taken telling how much of it was right or which one it was.
 */
export class PathSecret {
  /** Path with a placeholder for the secret, for logs and traces. */
  readonly route: string;
  readonly #prefix: string;
  readonly #secrets: readonly string[];
  readonly #valid: readonly Uint8Array[];
  readonly #candidate: Uint8Array = new Uint8Array(WIDTH);

  constructor(prefix: string, secrets: readonly string[]) {
    if (!prefix.startsWith("/") || !prefix.endsWith("/")) {
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
    this.route = `${prefix}{secret}`;
    this.#secrets = [...secrets];
    this.#valid = secrets.map((secret, index) => {
      const width = new Uint8Array(WIDTH);
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

  /** Whether the path of `url` is the prefix and a valid secret. */
  matches(url: string): boolean {
    const segment = this.#segment(url);
    if (segment === null || !widen(segment, this.#candidate)) return false;
    let valid = false;
    for (const secret of this.#valid) {
      // No early exit: the others are compared all the same.
      if (timingSafeEqual(secret, this.#candidate)) valid = true;
    }
    this.#candidate.fill(0);
    return valid;
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
    if (start === -1 || !url.startsWith(this.#prefix, start)) return null;
    const query = url.indexOf("?", start);
    const segment = url.slice(
      start + this.#prefix.length,
      query === -1 ? url.length : query,
    );
    if (!segment.includes("%")) return segment;
    try {
      return decodeURIComponent(segment);
    } catch {
      return null;
    }
  }
}

/** Writes `text` and its length into `width`; false when it is too long. */
function widen(text: string, width: Uint8Array): boolean {
  if (text.length > LONGEST) return false;
  width.fill(0);
  const { read, written } = encoder.encodeInto(
    text,
    width.subarray(0, LONGEST),
  );
  if (read < text.length) return false;
  width[LONGEST] = written & 0xff;
  width[LONGEST + 1] = written >> 8;
  return true;
}

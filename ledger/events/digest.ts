import { createHash } from "node:crypto";
import canonicalize from "canonicalize";

/**
 * Digest of a webhook: SHA-256 of the exact bytes received.
 *
 * @param body The bytes.
 * @returns 64 lower-case hex digits.
 *
 * @example Digest a body
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const digest = digestOfBytes(new TextEncoder().encode('{"type":"login"}'));
 * assert.match(digest, /^af72f1cc/);
 * ```
 */
export function digestOfBytes(body: Uint8Array): string {
  return createHash("sha256").update(body).digest("hex");
}

/**
 * Digest of a reading: SHA-256 of the canonical JSON (RFC 8785) of the value,
 * in which each number is its exact decimal string already and each string is
 * made well formed. So the order of fields, white space and escapes do not
 * count, and two amounts that differ in the 18th digit never collide.
 *
 * @param value What `parseExact` made of the service's text; not nested so
 * deeply that recursion fails.
 * @returns 64 lower-case hex digits.
 *
 * @example Two spellings of one value
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(
 *   digestOfValue({ a: "1", b: ["é"] }),
 *   digestOfValue({ b: ["\u00e9"], a: "1" }),
 * );
 * ```
 */
export function digestOfValue(value: unknown): string {
  const canonical = canonicalize(wellFormed(value)) ?? "";
  return createHash("sha256").update(canonical).digest("hex");
}

/** A copy of `value` in which no string holds a lone surrogate. */
function wellFormed(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== "object" || value === null) return value;
  const copy: Record<string, unknown> = Object.create(null);
  for (const [key, item] of Object.entries(value)) {
    copy[key.toWellFormed()] = wellFormed(item);
  }
  return copy;
}

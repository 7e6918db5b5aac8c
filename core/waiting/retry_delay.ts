import { backoffMs } from "./backoff.ts";

/** What the wait before another attempt depends on. */
export interface RetryDelayOptions {
  /** Attempts made so far, from 1. */
  readonly attempt: number;
  /** A random number from 0 up to 1. */
  readonly random: number;
  /** Wait the service asked for, in milliseconds; null when it named none. */
  readonly retryAfterMs: number | null;
}

const backoff = { firstMs: 500, longestMs: 8_000 };

/**
 * How long to wait before another attempt: full jitter under a doubling
 * ceiling of at most eight seconds, and never less than the service asked for.
 *
 * @param options What the wait depends on.
 * @returns The wait in milliseconds.
 *
 * @example Wait as asked
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(retryDelayMs({ attempt: 1, random: 0.5, retryAfterMs: null }), 250);
 * assert.equal(retryDelayMs({ attempt: 2, random: 0, retryAfterMs: 3000 }), 3000);
 * ```
 */
export function retryDelayMs(options: RetryDelayOptions): number {
  const { attempt, random, retryAfterMs } = options;
  const delayMs = Math.round(random * backoffMs(attempt, backoff));
  return Math.max(retryAfterMs ?? 0, delayMs);
}

/**
 * Reads a `Retry-After` header, in seconds or as a date.
 *
 * @param header The header's value; null when it is absent.
 * @param nowMs The present time, in milliseconds since 1970.
 * @returns The wait in milliseconds, never negative; null when none is stated.
 *
 * @example Read both forms
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(readRetryAfterMs("2", 0), 2000);
 * assert.equal(readRetryAfterMs("Thu, 01 Jan 1970 00:00:05 GMT", 1000), 4000);
 * assert.equal(readRetryAfterMs("soon", 0), null);
 * ```
 */
export function readRetryAfterMs(
  header: string | null,
  nowMs: number,
): number | null {
  const text = header?.trim() ?? "";
  if (/^\d+(?:\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000);
  // Other texts would be read as dates too leniently: "-1" is a year to some.
  if (!/^[A-Z][a-z]{2,8},? /.test(text)) return null;
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs);
}

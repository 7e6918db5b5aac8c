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
 */
export function retryDelayMs(options: RetryDelayOptions): number {
  const { attempt, random, retryAfterMs } = options;
  const delayMs = Math.round(random * backoffMs(attempt, backoff));
  return Math.max(retryAfterMs ?? 0, delayMs);
}

/** Reads a `Retry-After` header, in seconds or as a date. */
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

/** How a wait grows with failures in a row. */
export interface Backoff {
  /** Wait after the first failure, in ms; each further one doubles it. */
  readonly firstMs: number;
  /** The wait grows no longer than this, in ms. */
  readonly longestMs: number;
}

/** How long to wait after failures in a row. */
export function backoffMs(failures: number, backoff: Backoff): number {
  return Math.min(backoff.longestMs, backoff.firstMs * 2 ** (failures - 1));
}

/**
 * The waits before the five retries of a webhook, in milliseconds.
 *
 * Source: service interface, "Webhook delivery".
 */
export const RETRY_DELAYS_MS: readonly number[] = [
  5 * 60_000,
  3_600_000,
  2 * 3_600_000,
  4 * 3_600_000,
  8 * 3_600_000,
];

/** When attempts are made, where each wait counts from the first failure. */
export const ATTEMPTS_FROM_FIRST_MS: readonly number[] = [
  0,
  ...RETRY_DELAYS_MS,
];

/** When attempts are made, where each wait counts from the failure before. */
export const ATTEMPTS_FROM_PREVIOUS_MS: readonly number[] = [
  0,
  ...RETRY_DELAYS_MS.map((_, place) =>
    RETRY_DELAYS_MS.slice(0, place + 1).reduce((sum, delay) => sum + delay)
  ),
];

/** How long the service waits for the answer to a webhook, in milliseconds. */
export const SENDER_TIMEOUT_MS = 5000;

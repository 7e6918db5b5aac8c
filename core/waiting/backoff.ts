/** How a wait grows with failures in a row. */
export interface Backoff {
  /** Wait after the first failure, in ms; each further one doubles it. */
  readonly firstMs: number;
  /** The wait grows no longer than this, in ms. */
  readonly longestMs: number;
}

/**
 * How long to wait after failures in a row.
 *
 * @param failures Failures so far, from 1.
 * @param backoff How the wait grows.
 * @returns The wait in milliseconds.
 *
 * @example Double up to a limit
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const backoff = { firstMs: 1000, longestMs: 5000 };
 * assert.equal(backoffMs(1, backoff), 1000);
 * assert.equal(backoffMs(3, backoff), 4000);
 * assert.equal(backoffMs(99, backoff), 5000);
 * ```
 */
export function backoffMs(failures: number, backoff: Backoff): number {
  return Math.min(backoff.longestMs, backoff.firstMs * 2 ** (failures - 1));
}

/** Shortest pause between two asks of the same open order, in milliseconds. */
export const OPEN_AT_LEAST_MS = 20_000;

/** Longest pause between two asks of the same open order, in milliseconds. */
export const OPEN_AT_MOST_MS = 24 * 3_600_000;

/**
 * How long to wait before asking for an open order again: a sixth of the time
 * it has been still, so that an order in motion is asked often and one that was
 * abandoned last year once a day.
 *
 * @param stillMs Time since it last moved, in milliseconds.
 * @returns The pause, in milliseconds.
 *
 * @example An order that has been still for an hour
 * ```ts ignore
 * askAgainAfterMs(3_600_000); // 600000: ten minutes
 * ```
 */
export function askAgainAfterMs(stillMs: number): number {
  const pauseMs = Math.floor(stillMs / 6);
  return Math.min(OPEN_AT_MOST_MS, Math.max(OPEN_AT_LEAST_MS, pauseMs));
}

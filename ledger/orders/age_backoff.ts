/** Shortest pause between two requests of an open order, in milliseconds. */
export const OPEN_AT_LEAST_MS = 20_000;

/** Longest pause between two requests of an open order, in milliseconds. */
export const OPEN_AT_MOST_MS = 24 * 3_600_000;

/**
 * How long to wait before an open order is requested again: a sixth of the time
 * since it last changed. So an order that changes is read often, and one that
 * was abandoned last year once a day.
 *
 * @param stillMs Time since it last changed, in milliseconds.
 * @returns The pause, in milliseconds.
 *
 * @example An order that has not changed for an hour
 * ```ts ignore
 * requestAgainAfterMs(3_600_000); // 600000: ten minutes
 * ```
 */
export function requestAgainAfterMs(stillMs: number): number {
  const pauseMs = Math.floor(stillMs / 6);
  return Math.min(OPEN_AT_MOST_MS, Math.max(OPEN_AT_LEAST_MS, pauseMs));
}

/** Longest wait between two attempts, in ms. */
const longestMs = 60 * 60_000;

/**
 * How long a failed delivery waits: one second, doubled with each attempt, up
 * to an hour.
 *
 * @param attempt Attempts made so far, from 1.
 * @returns Milliseconds.
 */
export function retryDelayMs(attempt: number): number {
  return Math.min(longestMs, 1000 * 2 ** Math.min(attempt - 1, 20));
}

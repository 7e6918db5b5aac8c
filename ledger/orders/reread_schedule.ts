/** Shortest pause between two requests of an open order, in milliseconds. */
export const OPEN_AT_LEAST_MS = 20_000;

/** Longest pause between two requests of an open order, in milliseconds. */
export const OPEN_AT_MOST_MS = 24 * 3_600_000;

/**
 * How long to wait before an open order is requested again: a sixth of the time
 * since it last changed. So an order that changes is read often, and one that was
 * abandoned last year once a day.
 */
export function requestAgainAfterMs(stillMs: number): number {
  const pauseMs = Math.floor(stillMs / 6);
  return Math.min(OPEN_AT_MOST_MS, Math.max(OPEN_AT_LEAST_MS, pauseMs));
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/**
 * How long after an order became final it is read again, in milliseconds: a
 * payment that is taken back must not wait for the sweep through the past.
 */
export const FINAL_READS_AFTER_MS: readonly number[] = [
  10 * minuteMs,
  hourMs,
  6 * hourMs,
  dayMs,
  3 * dayMs,
];

/** When an order that became final is to be read again. */
export function nextFinalReadMs(finalMs: number, nowMs: number): number | null {
  const after = FINAL_READS_AFTER_MS.find((ms) => finalMs + ms > nowMs);
  return after === undefined ? null : finalMs + after;
}

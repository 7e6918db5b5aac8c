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

/**
 * When an order that became final is to be read again.
 *
 * @param finalMs Since when it is final, in milliseconds since the epoch.
 * @param nowMs The time, in milliseconds since the epoch.
 * @returns The next of five times, or null when the last is over.
 *
 * @example An order that became final two hours ago
 * ```ts ignore
 * nextFinalReadMs(finalMs, finalMs + 7_200_000); // four hours from now
 * ```
 */
export function nextFinalReadMs(finalMs: number, nowMs: number): number | null {
  const after = FINAL_READS_AFTER_MS.find((ms) => finalMs + ms > nowMs);
  return after === undefined ? null : finalMs + after;
}

import { OPEN_AT_LEAST_MS } from "./age_backoff.ts";
import type { BudgetRules } from "./rate_budget.ts";
import type { SweepPeriods } from "./staleness.ts";

/** How the rate is divided unless the options say otherwise. */
export const DEFAULT_RULES: BudgetRules = {
  requestsPerSecond: 4,
  burst: 4,
  shares: { new: 2, open: 3, confirm: 3, deep: 2 },
};

/** When sweeps start unless the options say otherwise. */
export const DEFAULT_PERIODS: SweepPeriods = {
  followEveryMs: 15_000,
  confirmEveryMs: 1000,
  openEveryMs: 5000,
  openAtLeastMs: OPEN_AT_LEAST_MS,
  deepCycleAtLeastMs: 3_600_000,
  itemsPerWindow: 200,
};

/** How far back the new sweep looks again, in milliseconds. */
export const OVERLAP_MS = 120_000;

/** Younger than this the past may still change, in milliseconds. */
export const SETTLE_MS = 60_000;

/** Pause after a failure, doubled each time up to the second, in ms. */
const [firstPauseMs, longestPauseMs] = [1000, 60_000];

/**
 * How long to wait before trying again.
 *
 * @param failures Failures in a row.
 */
export function pauseAfterFailureMs(failures: number): number {
  return Math.min(
    longestPauseMs,
    firstPauseMs * 2 ** Math.min(failures - 1, 9),
  );
}

/** Waits on a real timer. */
export function timerSleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** Random bytes of the runtime. */
export function cryptoBytes(length: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(length));
}

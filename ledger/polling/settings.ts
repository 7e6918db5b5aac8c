import { backoffMs } from "../../core/waiting/backoff.ts";
import { OPEN_AT_LEAST_MS } from "./requests/age_backoff.ts";
import type { ShareRules } from "./fair_share.ts";
import { CONFIRM_AT_LEAST_MS, type SweepPeriods } from "./staleness.ts";

/** How the rate is divided unless the options say otherwise. */
export const DEFAULT_RULES: ShareRules = {
  requestsPerSecond: 4,
  burst: 4,
  shares: { new: 2, open: 3, confirm: 3, deep: 2 },
};

/** When sweeps start unless the options say otherwise. */
export const DEFAULT_PERIODS: SweepPeriods = {
  followEveryMs: 15_000,
  confirmEveryMs: 1000,
  confirmAtLeastMs: CONFIRM_AT_LEAST_MS,
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
const pauses = { firstMs: 1000, longestMs: 60_000 };

/**
 * How long to wait before trying again.
 *
 * @param failures Failures in a row.
 */
export function pauseAfterFailureMs(failures: number): number {
  return backoffMs(failures, pauses);
}

/** Random bytes of the runtime. */
export function cryptoBytes(length: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(length));
}

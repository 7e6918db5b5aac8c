import {
  ATTEMPTS_FROM_FIRST_MS,
  ATTEMPTS_FROM_PREVIOUS_MS,
} from "../../core/waiting/retry_delay.ts";

/** Delivery is off this long after the first failure, read one way. */
export const RETRIES_FROM_FIRST_MS: number = Math.max(
  ...ATTEMPTS_FROM_FIRST_MS,
);

/** Delivery is off this long after the first failure, read the other way. */
export const RETRIES_FROM_PREVIOUS_MS: number = Math.max(
  ...ATTEMPTS_FROM_PREVIOUS_MS,
);

/**
 * When the service switches delivery off. Its documentation does not say when
 * the retries begin to count. One failure may be enough.
 */
export interface RetryCountdown {
  /** First delivery that failed, as far as is known, UTC ISO 8601. */
  readonly firstFailureAt: string;
  /** Off at, when retries count from the first failure, UTC ISO 8601. */
  readonly offAtFromFirst: string;
  /** What is left of that, in milliseconds; negative when over. */
  readonly leftFromFirstMs: number;
  /** Off at, when each retry counts from the one before, UTC ISO 8601. */
  readonly offAtFromPrevious: string;
  /** What is left of that, in milliseconds; negative when over. */
  readonly leftFromPreviousMs: number;
}

/**
 * Counts down to the end of the retries, in both readings of the schedule.
 *
 * @param firstFailureAt First delivery that failed, UTC ISO 8601.
 * @param nowMs The time, in milliseconds since the epoch.
 *
 * @example Eight hours, or fifteen hours and five minutes
 * ```ts
 * import { retryCountdown } from "./retry_countdown.ts";
 * import assert from "node:assert/strict";
 *
 * const failedAt = "2026-11-20T10:00:00.000Z";
 * const countdown = retryCountdown(failedAt, Date.parse(failedAt));
 * assert.equal(countdown.offAtFromFirst, "2026-11-20T18:00:00.000Z");
 * assert.equal(countdown.offAtFromPrevious, "2026-11-21T01:05:00.000Z");
 * ```
 */
export function retryCountdown(
  firstFailureAt: string,
  nowMs: number,
): RetryCountdown {
  const firstMs = Date.parse(firstFailureAt);
  const off = (afterMs: number) => new Date(firstMs + afterMs).toISOString();
  return {
    firstFailureAt,
    offAtFromFirst: off(RETRIES_FROM_FIRST_MS),
    leftFromFirstMs: firstMs + RETRIES_FROM_FIRST_MS - nowMs,
    offAtFromPrevious: off(RETRIES_FROM_PREVIOUS_MS),
    leftFromPreviousMs: firstMs + RETRIES_FROM_PREVIOUS_MS - nowMs,
  };
}

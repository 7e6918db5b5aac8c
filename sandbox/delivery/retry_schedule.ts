import { RETRY_DELAYS_MS } from "../../core/waiting/retry_delay.ts";

/** Every rule by which deliveries are switched off. */
export const DISABLE_RULES = [
  "first_failure",
  "ladder_from_first",
  "ladder_from_previous",
] as const;

/**
 * How a failed delivery is retried and when delivery is switched off. The
 * service's documentation can be read in three ways, so there are three rules:
 *
 * - `first_failure`: one failure switches delivery off; nothing is retried.
 * - `ladder_from_first`: retries 5 min, 1, 2, 4 and 8 hours after the first
 *   failure; off when the fifth fails, 8 hours in.
 * - `ladder_from_previous`: each of those waits counts from the failure before
 *   it; off when the fifth fails, 15 hours and 5 minutes in.
 *
 * Source: service interface, "Webhook delivery".
 */
export type DisableRule = (typeof DISABLE_RULES)[number];

/** Throws unless `rule` is one of the three rules. */
export function checkDisableRule(rule: DisableRule): void {
  if (DISABLE_RULES.includes(rule)) return;
  throw new RangeError(
    `Cannot set disableRule: expected ${DISABLE_RULES.join(", ")}, got ` +
      `"${rule}"`,
  );
}

/** Longest time the partner may take to answer, in milliseconds. */
export const ANSWER_WITHIN_MS = 5_000;

/** The failures of one event so far. */
export interface FailedSoFar {
  /** How many attempts failed, the first included. */
  readonly failures: number;
  /** When the first failed, in milliseconds since the epoch. */
  readonly firstMs: number;
  /** When the latest failed, in milliseconds since the epoch. */
  readonly latestMs: number;
}

/**
 * When an event that failed is tried again.
 *
 * @param rule The rule in force.
 * @param failed The failures so far, the one just seen included.
 * @returns The time in milliseconds since the epoch, or null when there is no
 * retry left and delivery is switched off.
 *
 * @example The last retry of both schedules
 * ```ts
 * import { nextAttemptMs } from "@rampkit/onramp/sandbox";
 * import assert from "node:assert/strict";
 *
 * const hour = 3_600_000;
 * const failed = { failures: 5, firstMs: 0, latestMs: 7 * hour + 300_000 };
 * assert.equal(nextAttemptMs("ladder_from_first", failed), 8 * hour);
 * assert.equal(
 *   nextAttemptMs("ladder_from_previous", failed),
 *   15 * hour + 300_000,
 * );
 * assert.equal(nextAttemptMs("first_failure", failed), null);
 * ```
 */
export function nextAttemptMs(
  rule: DisableRule,
  failed: FailedSoFar,
): number | null {
  if (rule === "first_failure") return null;
  const delayMs = RETRY_DELAYS_MS[failed.failures - 1];
  if (delayMs === undefined) return null;
  return delayMs +
    (rule === "ladder_from_first" ? failed.firstMs : failed.latestMs);
}

import { backoffMs } from "../../core/waiting/retry_delay.ts";

const backoff = { firstMs: 1000, longestMs: 60 * 60_000 };

/**
 * How long a failed delivery waits: one second, doubled with each attempt, up
 * to an hour.
 *
 * @param attempt Attempts made so far, from 1.
 * @returns Milliseconds.
 */
export function redeliveryDelayMs(attempt: number): number {
  return backoffMs(attempt, backoff);
}

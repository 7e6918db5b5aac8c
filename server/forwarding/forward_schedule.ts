/** Waits before further attempts, as Standard Webhooks proposes them, in ms. */
const WAITS_MS: readonly number[] = [
  5_000,
  5 * 60_000,
  30 * 60_000,
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * 3_600_000),
];

/** Attempts over about three days, after which a transition is dead. */
export const FORWARD_ATTEMPTS: number = WAITS_MS.length + 1;

/** Longest wait that a receiver can ask for, ms. */
const LONGEST_ASKED_MS = 24 * 3_600_000;

/** No wait is longer than this, ms. */
export const LONGEST_FORWARD_DELAY_MS = 30 * 3_600_000;

/**
 * How long to wait before another attempt to forward: up to a fifth less or
 * more than the schedule says, and not less than the receiver asked for.
 *
 * @param attempt Attempts made so far, from 1.
 * @param random A random number from 0 up to 1.
 * @param retryAfterMs What the receiver asked for; null when it did not.
 * @returns Milliseconds.
 */
export function forwardDelayMs(
  attempt: number,
  random: number,
  retryAfterMs: number | null,
): number {
  const waitMs = WAITS_MS[attempt - 1] ?? WAITS_MS.at(-1) ?? 0;
  return Math.max(
    Math.round(waitMs * (0.8 + 0.4 * random)),
    Math.min(retryAfterMs ?? 0, LONGEST_ASKED_MS),
  );
}

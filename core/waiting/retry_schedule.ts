/**
 * The waits before the five retries of a webhook, in milliseconds.
 *
 * Source: service interface, "Webhook delivery".
 */
export const RETRY_DELAYS_MS: readonly number[] = [
  5 * 60_000,
  3_600_000,
  2 * 3_600_000,
  4 * 3_600_000,
  8 * 3_600_000,
];

/** When attempts are made, where each wait counts from the first failure. */
export const ATTEMPTS_FROM_FIRST_MS: readonly number[] = [
  0,
  ...RETRY_DELAYS_MS,
];

/** When attempts are made, where each wait counts from the failure before. */
export const ATTEMPTS_FROM_PREVIOUS_MS: readonly number[] = [
  0,
  ...RETRY_DELAYS_MS.map((_, place) =>
    RETRY_DELAYS_MS.slice(0, place + 1).reduce((sum, delay) => sum + delay)
  ),
];

/** How long the service waits for the answer to a webhook, in milliseconds. */
export const SENDER_TIMEOUT_MS = 5000;

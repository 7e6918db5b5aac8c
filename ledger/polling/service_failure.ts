/**
 * An error of the client: the service failed a call, or was not reached.
 *
 * The ledger knows the client by this shape alone, so that any client that
 * tells its failures in this form can be polled with.
 */
export interface ServiceFailure extends Error {
  /** What went wrong, as a word to branch on. */
  readonly code: string;
  /** HTTP status; null when there was no answer. */
  readonly status: number | null;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
}

/**
 * Tells a failure of the service from a fault of our own.
 *
 * @param error What was thrown.
 */
export function isServiceFailure(error: unknown): error is ServiceFailure {
  return error instanceof Error && "status" in error && "code" in error &&
    "retryable" in error && typeof error.retryable === "boolean";
}

/**
 * Whether the service may fail because of what was requested. A wrong key and
 * too many requests fail whatever is requested.
 *
 * @param error What was thrown.
 */
export function isRefusal(error: unknown): error is ServiceFailure {
  return isServiceFailure(error) && error.code !== "unauthorized" &&
    error.code !== "rate_limited";
}

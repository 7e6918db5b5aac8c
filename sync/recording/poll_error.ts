/** What can end a poller's work besides the service and the database. */
export type PollErrorCode = "lease_lost";

/**
 * The poller cannot go on.
 *
 * - `lease_lost`: another poller has taken over; nothing of the last step was
 *   written.
 *
 * @example Tell a lost lease from a broken service
 * ```ts
 * import { PollError } from "@rampkit/onramp/sync";
 * import assert from "node:assert/strict";
 *
 * const error = new PollError("lease_lost", "Another poller has taken over");
 * assert.ok(error instanceof PollError && error.code === "lease_lost");
 * ```
 */
export class PollError extends Error {
  /** Always `PollError`. */
  override readonly name = "PollError";
  /** What went wrong. */
  readonly code: PollErrorCode;

  /**
   * An error of the poller.
   *
   * @param code What went wrong.
   * @param message The same for people.
   * @param options The error behind it.
   */
  constructor(
    code: PollErrorCode,
    message: string,
    options?: { readonly cause?: unknown },
  ) {
    super(message, options);
    this.code = code;
  }
}

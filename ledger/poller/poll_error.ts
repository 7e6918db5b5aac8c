/** What can end a poller's work besides the service and the database. */
export type PollErrorCode = "lease_lost";

/**
 * The poller cannot go on.
 *
 * - `lease_lost`: another poller has taken over; nothing of the last step was
 *   written.
 *
 * @example Tell a lost lease from a broken service
 * ```ts ignore
 * if (error instanceof PollError && error.code === "lease_lost") stop();
 * ```
 */
export class PollError extends Error {
  /** Always `PollError`. */
  override readonly name = "PollError";
  /** What went wrong. */
  readonly code: PollErrorCode;

  /**
   * @param code What went wrong.
   * @param message The same for people.
   * @param options The error behind it.
   */
  constructor(code: PollErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

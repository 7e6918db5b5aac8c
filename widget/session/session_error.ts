/**
 * Why there is no session to open the widget with.
 *
 * - `refused`: your endpoint refused; `status` says how.
 * - `network`: the endpoint could not be reached.
 * - `bad_answer`: it answered, but not with a session.
 * - `stale`: the session is older than its 30 seconds.
 * - `used`: the session has opened a widget already.
 */
export type SessionErrorCode =
  | "refused"
  | "network"
  | "bad_answer"
  | "stale"
  | "used";

/** Thrown when the widget has no session to open with. */
export class SessionError extends Error {
  /** Literal name. */
  override readonly name = "SessionError";
  /** Why. */
  readonly code: SessionErrorCode;
  /** HTTP status of the answer; null where there was none. */
  readonly status: number | null;

  /**
   * Creates the error.
   *
   * @param code Why.
   * @param message For people; never holds a session id.
   * @param options HTTP status and cause, where there are any.
   */
  constructor(
    code: SessionErrorCode,
    message: string,
    options: { readonly status?: number; readonly cause?: unknown } = {},
  ) {
    super(message, "cause" in options ? { cause: options.cause } : {});
    this.code = code;
    this.status = options.status ?? null;
  }
}

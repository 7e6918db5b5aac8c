import { OnrampError, type OnrampErrorFacts } from "./onramp_error.ts";

/** A user with this phone exists already; the error names that user. */
export class ConflictError extends OnrampError {
  /** Name of the class. */
  override readonly name = "ConflictError";
  /** What went wrong. */
  override readonly code = "user_exists";
  /** Never: the user stays. */
  override readonly retryable = false;
  /** Identifier of the existing user; null when the service left it out. */
  readonly userId: string | null;
  /** When that user was created, as sent; null when left out. */
  readonly createdAt: string | null;

  /** Takes what to say, the facts of the call, and the existing user. */
  constructor(
    message: string,
    facts: OnrampErrorFacts & {
      readonly userId: string | null;
      readonly createdAt: string | null;
    },
  ) {
    super(message, facts);
    this.userId = facts.userId;
    this.createdAt = facts.createdAt;
  }
}

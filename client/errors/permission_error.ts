import { OnrampError, type OnrampErrorFacts } from "./onramp_error.ts";
import type { PermissionErrorCode } from "./error_codes.ts";

/** The service understood the call and refuses it. */
export class PermissionError extends OnrampError {
  /** Name of the class. */
  override readonly name = "PermissionError";
  /** Why the service refuses. */
  override readonly code: PermissionErrorCode;
  /** Never: the same request would be refused again. */
  override readonly retryable = false;

  /** Takes what to say, the facts of the call, and why it was refused. */
  constructor(
    message: string,
    facts: OnrampErrorFacts & { readonly code: PermissionErrorCode },
  ) {
    super(message, facts);
    this.code = facts.code;
  }
}

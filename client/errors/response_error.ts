import { OnrampError, type OnrampErrorFacts } from "./onramp_error.ts";
import type { ResponseErrorCode } from "./error_codes.ts";

/** An answer is not what the service promises. */
export class ResponseError extends OnrampError {
  /** Name of the class. */
  override readonly name = "ResponseError";
  /** How the answer breaks the promise. */
  override readonly code: ResponseErrorCode;
  /** Never: something between here and the service has to change first. */
  override readonly retryable = false;

  /** Takes what to say, the facts of the call, and how it is wrong. */
  constructor(
    message: string,
    facts: OnrampErrorFacts & { readonly code: ResponseErrorCode },
  ) {
    super(message, facts);
    this.code = facts.code;
  }
}

import { OnrampError, type OnrampErrorFacts } from "./onramp_error.ts";

/**
 * How an answer breaks the promise: no JSON, nothing at all, another shape,
 * `success: false`, a redirect (the key does not follow it), a body over the
 * limit, or another order or user than the one asked for.
 */
export type ResponseErrorCode =
  | "not_json"
  | "empty_body"
  | "wrong_shape"
  | "not_successful"
  | "redirected"
  | "too_large"
  | "wrong_order"
  | "wrong_user";

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

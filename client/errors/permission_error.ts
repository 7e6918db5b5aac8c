import { OnrampError, type OnrampErrorFacts } from "./onramp_error.ts";

/**
 * Why the service refuses. `forbidden` stands for every refusal that names no
 * field, such as a user under 18 or an unsupported state.
 */
export type PermissionErrorCode =
  | "terms_not_accepted"
  | "restricted_country"
  | "partner_not_allowed"
  | "partner_blocked"
  | "restricted_action"
  | "forbidden";

/** The service understood the call and refuses it. */
export class PermissionError extends OnrampError {
  /** Name of the class. */
  override readonly name = "PermissionError";
  /** Why the service refuses. */
  override readonly code: PermissionErrorCode;
  /** Never: what is asked for has to change first. */
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

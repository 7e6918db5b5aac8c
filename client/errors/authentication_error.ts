import { OnrampError } from "./onramp_error.ts";

/** The API key is missing, wrong, or of the other environment. */
export class AuthenticationError extends OnrampError {
  /** Name of the class. */
  override readonly name = "AuthenticationError";
  /** What went wrong. */
  override readonly code = "unauthorized";
  /** Whether the same call may succeed later. */
  override readonly retryable = false;
}

import { OnrampError } from "./onramp_error.ts";

/** The service could not be reached, or the connection broke. */
export class NetworkError extends OnrampError {
  /** Name of the class. */
  override readonly name = "NetworkError";
  /** What went wrong. */
  override readonly code = "network";
  /** Whether the same call may succeed later. */
  override readonly retryable = true;
}

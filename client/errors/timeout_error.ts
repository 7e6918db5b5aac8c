import { OnrampError, type OnrampErrorFacts } from "./onramp_error.ts";

/** No complete answer came in time, even if some bytes did. */
export class TimeoutError extends OnrampError {
  /** Name of the class. */
  override readonly name = "TimeoutError";
  /** `timeout` for one attempt, `deadline` for the call as a whole. */
  override readonly code: "timeout" | "deadline";
  /** Always: later is fine. */
  override readonly retryable = true;

  /** Takes what to say, the facts of the call, and which limit was passed. */
  constructor(
    message: string,
    facts: OnrampErrorFacts & { readonly code: "timeout" | "deadline" },
  ) {
    super(message, facts);
    this.code = facts.code;
  }
}

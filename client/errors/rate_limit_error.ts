import { OnrampError, type OnrampErrorFacts } from "./onramp_error.ts";

/** Too many requests; the client has waited and tried again as far as allowed. */
export class RateLimitError extends OnrampError {
  /** Name of the class. */
  override readonly name = "RateLimitError";
  /** What went wrong. */
  override readonly code = "rate_limited";
  /** Always: later is fine. */
  override readonly retryable = true;
  /** Wait the service asked for, in milliseconds; null when it named none. */
  readonly retryAfterMs: number | null;

  /** Takes what to say, the facts of the call, and the wait asked for. */
  constructor(
    message: string,
    facts: OnrampErrorFacts & { readonly retryAfterMs?: number | null } = {},
  ) {
    super(message, facts);
    this.retryAfterMs = facts.retryAfterMs ?? null;
  }
}

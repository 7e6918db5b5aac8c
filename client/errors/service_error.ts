import { OnrampError, type OnrampErrorFacts } from "./onramp_error.ts";

/** The service failed, or answered with an undocumented status. */
export class ServiceError extends OnrampError {
  /** Name of the class. */
  override readonly name = "ServiceError";
  /** `service_failure` for 5xx, `unexpected_status` for the rest. */
  override readonly code: "service_failure" | "unexpected_status";
  /** Whether the failure is the kind that passes: 5xx and 408. */
  override readonly retryable: boolean;
  /** Wait the service asked for, in milliseconds; null when it named none. */
  readonly retryAfterMs: number | null;

  /** Takes what to say, the facts of the call, and the wait asked for. */
  constructor(
    message: string,
    facts: OnrampErrorFacts & { readonly retryAfterMs?: number | null } = {},
  ) {
    super(message, facts);
    const failed = this.status !== null && this.status >= 500;
    this.code = failed ? "service_failure" : "unexpected_status";
    this.retryable = failed || this.status === 408;
    this.retryAfterMs = facts.retryAfterMs ?? null;
  }
}

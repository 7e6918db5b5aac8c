import {
  type CardErrorCode,
  OnrampError,
  type OnrampErrorFacts,
  type PermissionErrorCode,
  type ResponseErrorCode,
} from "./onramp_error.ts";

/** The API key is missing, wrong, or of the other environment. */
export class AuthenticationError extends OnrampError {
  /** Name of the class. */
  override readonly name = "AuthenticationError";
  /** What went wrong. */
  override readonly code = "unauthorized";
  /** Whether the same call may succeed later. */
  override readonly retryable = false;
}

/** The service refused to register a card. Never retried automatically. */
export class CardError extends OnrampError {
  /** Name of the class. */
  override readonly name = "CardError";
  /** Why; `card_refused` where the reason is not documented. */
  override readonly code: CardErrorCode;
  /** Never: repeating a card registration is not safe. */
  override readonly retryable = false;

  /**
   * Creates the error from its message, the facts of the call, and the reason.
   */
  constructor(
    message: string,
    facts: OnrampErrorFacts & { readonly code: CardErrorCode },
  ) {
    super(message, facts);
    this.code = facts.code;
  }
}

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

  /**
   * Creates the error from its message, the facts of the call, and the existing
   * user.
   */
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

/** The service could not be reached, or the connection broke. */
export class NetworkError extends OnrampError {
  /** Name of the class. */
  override readonly name = "NetworkError";
  /** What went wrong. */
  override readonly code = "network";
  /** Whether the same call may succeed later. */
  override readonly retryable = true;
}

/** The service understood the call and refuses it. */
export class PermissionError extends OnrampError {
  /** Name of the class. */
  override readonly name = "PermissionError";
  /** Why the service refuses. */
  override readonly code: PermissionErrorCode;
  /** Never: the same request would be refused again. */
  override readonly retryable = false;

  /**
   * Creates the error from its message, the facts of the call, and why it was
   * refused.
   */
  constructor(
    message: string,
    facts: OnrampErrorFacts & { readonly code: PermissionErrorCode },
  ) {
    super(message, facts);
    this.code = facts.code;
  }
}

/** Too many requests, even after the waits and retries that are allowed. */
export class RateLimitError extends OnrampError {
  /** Name of the class. */
  override readonly name = "RateLimitError";
  /** What went wrong. */
  override readonly code = "rate_limited";
  /** Always: later is fine. */
  override readonly retryable = true;
  /** Wait the service asked for, in milliseconds; null when it named none. */
  readonly retryAfterMs: number | null;

  /** Creates the error from its message, the facts, and the wait asked for. */
  constructor(
    message: string,
    facts: OnrampErrorFacts & { readonly retryAfterMs?: number | null } = {},
  ) {
    super(message, facts);
    this.retryAfterMs = facts.retryAfterMs ?? null;
  }
}

/** An answer is not what the service promises. */
export class ResponseError extends OnrampError {
  /** Name of the class. */
  override readonly name = "ResponseError";
  /** How the answer breaks the promise. */
  override readonly code: ResponseErrorCode;
  /** Never: something between here and the service has to change first. */
  override readonly retryable = false;

  /**
   * Creates the error from its message, the facts of the call, and what is
   * wrong with the answer.
   */
  constructor(
    message: string,
    facts: OnrampErrorFacts & { readonly code: ResponseErrorCode },
  ) {
    super(message, facts);
    this.code = facts.code;
  }
}

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

  /** Creates the error from its message, the facts, and the wait asked for. */
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

/** No complete answer came in time, even if some bytes did. */
export class TimeoutError extends OnrampError {
  /** Name of the class. */
  override readonly name = "TimeoutError";
  /** `timeout` for one attempt, `deadline` for the call as a whole. */
  override readonly code: "timeout" | "deadline";
  /** Always: later is fine. */
  override readonly retryable = true;

  /**
   * Creates the error from its message, the facts of the call, and the limit
   * that was exceeded.
   */
  constructor(
    message: string,
    facts: OnrampErrorFacts & { readonly code: "timeout" | "deadline" },
  ) {
    super(message, facts);
    this.code = facts.code;
  }
}

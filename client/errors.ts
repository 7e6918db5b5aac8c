/** Facts of a failed call, all of them optional. */
export interface OnrampErrorFacts {
  /** HTTP status; null when there was no answer. @default {null} */
  readonly status?: number | null;
  /** Field at fault, in the service's spelling. @default {null} */
  readonly field?: string | null;
  /** Request identifier the service stated. @default {null} */
  readonly requestId?: string | null;
  /** Numeric code the service stated. @default {null} */
  readonly serviceCode?: number | null;
  /** Wording of the service, without secrets. @default {null} */
  readonly serviceMessage?: string | null;
  /** Wait the service asked for, in milliseconds. @default {null} */
  readonly retryAfterMs?: number | null;
  /** What caused it, without secrets. */
  readonly cause?: unknown;
}

/**
 * Base of every error the client throws for a call that failed.
 *
 * No error holds the API key, a card number, a header or a body.
 *
 * @example Tell our errors apart
 * ```ts
 * import { OnrampError, RateLimitError } from "@rampkit/onramp/client";
 * import assert from "node:assert/strict";
 *
 * const error = new RateLimitError("Cannot read orders: too many requests", {
 *   status: 429,
 * });
 * assert.ok(error instanceof OnrampError);
 * assert.equal(error.retryable, true);
 * ```
 */
export abstract class OnrampError<
  Code extends OnrampErrorCode = OnrampErrorCode,
> extends Error {
  /** Name of the class. */
  abstract override readonly name: OnrampErrorName;
  /** What went wrong, as a word to branch on. */
  readonly code: Code;
  /** Whether the same call may succeed later without being changed. */
  abstract readonly retryable: boolean;
  /** HTTP status; null when there was no answer. */
  readonly status: number | null;
  /** Field at fault, in the service's spelling; null when none is named. */
  readonly field: string | null;
  /** Request identifier the service stated; null when it stated none. */
  readonly requestId: string | null;
  /** Numeric code the service stated; null when it stated none. */
  readonly serviceCode: number | null;
  /** The service's own message, without secrets; null when it sent none. */
  readonly serviceMessage: string | null;

  /** Wait the service asked for, in milliseconds; null when it named none. */
  readonly retryAfterMs: number | null;

  /** Creates the error from its message, the facts of the call, and why. */
  constructor(
    message: string,
    facts: OnrampErrorFacts & { readonly code: Code },
  ) {
    super(message, facts.cause === undefined ? {} : { cause: facts.cause });
    this.code = facts.code;
    this.status = facts.status ?? null;
    this.field = facts.field ?? null;
    this.requestId = facts.requestId ?? null;
    this.serviceCode = facts.serviceCode ?? null;
    this.serviceMessage = facts.serviceMessage ?? null;
    this.retryAfterMs = facts.retryAfterMs ?? null;
  }
}

/** Why a card was not registered; the service's own number is `serviceCode`. */
export type CardErrorCode =
  | "invalid_card_number"
  | "invalid_exp_month"
  | "invalid_exp_year"
  | "card_expired"
  | "invalid_billing_address"
  | "too_many_cards"
  | "card_already_registered"
  | "user_not_found"
  | "user_banned"
  | "card_refused";

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

/**
 * How an answer breaks its documented form: no JSON, empty, another shape,
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

/** Name of one of the client's error classes. */
export type OnrampErrorName =
  | "ValidationError"
  | "AuthenticationError"
  | "PermissionError"
  | "ConflictError"
  | "RateLimitError"
  | "CardError"
  | "ServiceError"
  | "ResponseError"
  | "NetworkError"
  | "TimeoutError";

/** What went wrong, as a word to branch on. */
export type OnrampErrorCode =
  | "invalid_input"
  | "rejected_input"
  | "unauthorized"
  | "user_exists"
  | "rate_limited"
  | "service_failure"
  | "unexpected_status"
  | "network"
  | "timeout"
  | "deadline"
  | PermissionErrorCode
  | CardErrorCode
  | ResponseErrorCode;

/** One rule that an input breaks. */
export interface Fault {
  /** Field in the service's spelling, dotted where nested. */
  readonly field: string;
  /** The rule and what to do, in one sentence without its full stop. */
  readonly rule: string;
}

/**
 * An input breaks the service's rules: found here before sending
 * (`invalid_input`), or by the service (`rejected_input`).
 *
 * Card and personal data are never quoted.
 *
 * @example See every fault at once
 * ```ts
 * import { checkSessionInput, ValidationError } from "@rampkit/onramp/client";
 * import assert from "node:assert/strict";
 *
 * const { faults } = checkSessionInput(
 *   {
 *     flow_type: "simple",
 *     commodity: "USDC", // and no network
 *     currency: "USD",
 *     currency_amount: "0.5", // less than 1
 *   },
 *   { assets: "production" },
 * );
 * const error = new ValidationError("Cannot create a session", { faults });
 * assert.deepEqual(error.faults.map((fault) => fault.field), [
 *   "network",
 *   "currency_amount",
 * ]);
 * ```
 */
export class ValidationError
  extends OnrampError<"invalid_input" | "rejected_input"> {
  /** Name of the class. */
  override readonly name = "ValidationError";
  /** Never: the input has to change first. */
  override readonly retryable = false;
  /** Every fault; never empty. */
  readonly faults: readonly Fault[];

  /** Creates the error from what could not be done, and every fault. */
  constructor(
    message: string,
    facts: OnrampErrorFacts & { readonly faults: readonly Fault[] },
  ) {
    const list = facts.faults.map((f) => `${f.field}: ${f.rule}`).join("; ");
    super(`${message}: ${list}`, {
      field: facts.faults[0]?.field ?? null,
      ...facts,
      code: (facts.status ?? null) === null
        ? "invalid_input"
        : "rejected_input",
    });
    this.faults = facts.faults;
  }
}

/** The API key is missing, wrong, or of the other environment. */
export class AuthenticationError extends OnrampError<"unauthorized"> {
  /** Name of the class. */
  override readonly name = "AuthenticationError";
  /** Whether the same call may succeed later. */
  override readonly retryable = false;

  /** Creates the error from its message and the facts of the call. */
  constructor(message: string, facts: OnrampErrorFacts = {}) {
    super(message, { ...facts, code: "unauthorized" });
  }
}

/** The service refused to register a card. Never retried automatically. */
export class CardError extends OnrampError<CardErrorCode> {
  /** Name of the class. */
  override readonly name = "CardError";
  /** Never: repeating a card registration is not safe. */
  override readonly retryable = false;
}

/** A user with this phone exists already; the error names that user. */
export class ConflictError extends OnrampError<"user_exists"> {
  /** Name of the class. */
  override readonly name = "ConflictError";
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
    super(message, { ...facts, code: "user_exists" });
    this.userId = facts.userId;
    this.createdAt = facts.createdAt;
  }
}

/** The service could not be reached, or the connection broke. */
export class NetworkError extends OnrampError<"network"> {
  /** Name of the class. */
  override readonly name = "NetworkError";
  /** Whether the same call may succeed later. */
  override readonly retryable = true;

  /** Creates the error from its message and the facts of the call. */
  constructor(message: string, facts: OnrampErrorFacts = {}) {
    super(message, { ...facts, code: "network" });
  }
}

/** The service understood the call and refuses it. */
export class PermissionError extends OnrampError<PermissionErrorCode> {
  /** Name of the class. */
  override readonly name = "PermissionError";
  /** Never: the same request would be refused again. */
  override readonly retryable = false;
}

/** Too many requests, even after the waits and retries that are allowed. */
export class RateLimitError extends OnrampError<"rate_limited"> {
  /** Name of the class. */
  override readonly name = "RateLimitError";
  /** Always: later is fine. */
  override readonly retryable = true;

  /** Creates the error from its message and the facts of the call. */
  constructor(message: string, facts: OnrampErrorFacts = {}) {
    super(message, { ...facts, code: "rate_limited" });
  }
}

/** An answer is not what the service promises. */
export class ResponseError extends OnrampError<ResponseErrorCode> {
  /** Name of the class. */
  override readonly name = "ResponseError";
  /** Never: something between here and the service has to change first. */
  override readonly retryable = false;
}

/** The service failed, or answered with an undocumented status. */
export class ServiceError
  extends OnrampError<"service_failure" | "unexpected_status"> {
  /** Name of the class. */
  override readonly name = "ServiceError";
  /** Whether the failure is the kind that passes: 5xx and 408. */
  override readonly retryable: boolean;

  /** Creates the error; `code` is `service_failure` for a status of 5xx. */
  constructor(message: string, facts: OnrampErrorFacts = {}) {
    const hasFailed = (facts.status ?? 0) >= 500;
    super(message, {
      ...facts,
      code: hasFailed ? "service_failure" : "unexpected_status",
    });
    this.retryable = hasFailed || this.status === 408;
  }
}

/** No complete answer came in time, even if some bytes did. */
export class TimeoutError extends OnrampError<"timeout" | "deadline"> {
  /** Name of the class. */
  override readonly name = "TimeoutError";
  /** Always: later is fine. */
  override readonly retryable = true;
}

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
export abstract class OnrampError extends Error {
  /** Name of the class. */
  abstract override readonly name: OnrampErrorName;
  /** What went wrong, as a word to branch on. */
  abstract readonly code: OnrampErrorCode;
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

  /** Creates the error from its message and the facts of the call. */
  constructor(message: string, facts: OnrampErrorFacts = {}) {
    super(message, facts.cause === undefined ? {} : { cause: facts.cause });
    this.status = facts.status ?? null;
    this.field = facts.field ?? null;
    this.requestId = facts.requestId ?? null;
    this.serviceCode = facts.serviceCode ?? null;
    this.serviceMessage = facts.serviceMessage ?? null;
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

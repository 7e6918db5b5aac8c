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

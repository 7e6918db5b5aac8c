/**
 * The user object of the users endpoint, as the service sends it.
 *
 * Every field but `user_id` may be missing. Limits are USD decimal strings.
 *
 * Source: service interface, "User (Data API)".
 */
export interface User {
  /** User identifier. */
  readonly user_id: string;
  /** Country of the verification, ISO alpha-3. */
  readonly country?: string | null;
  /** Masked phone number. */
  readonly phone?: string | null;
  /** Country of the phone, ISO alpha-2. */
  readonly phone_country?: string | null;
  /** Light verification status; an open list. */
  readonly lkyc_status?: VerificationStatus | null;
  /** Document verification status; an open list. */
  readonly fkyc_status?: VerificationStatus | null;
  /** Whether the service banned the user. */
  readonly banned?: boolean | null;
  /** Creation time, ISO 8601 UTC with fractional seconds. */
  readonly created_at?: string | null;
  /** What the user may still spend, and has spent. */
  readonly limits?: UserLimits | null;
  /** Saved ways to pay. */
  readonly linked_payment_methods?: readonly LinkedPaymentMethod[] | null;
}

/**
 * The verification statuses seen in records and webhooks. `not initiated` and
 * `initiated` are two different states.
 */
export const VERIFICATION_STATUSES = [
  "not initiated",
  "initiated",
  "progress",
  "retry",
  "success",
  "failed",
] as const;

/** A verification status: one of those seen, or one not known here. */
export type VerificationStatus =
  | (typeof VERIFICATION_STATUSES)[number]
  | (string & Record<never, never>);

/** Spending limits of a user: USD, decimal strings. */
export interface UserLimits {
  /** Remaining crypto limit; zero while verification is not a success. */
  readonly crypto_remaining?: string | null;
  /** Spent from the current crypto limits. */
  readonly crypto_spending?: string | null;
  /** Remaining NFT limit; zero while verification is not a success. */
  readonly digital_goods_remaining?: string | null;
  /** Spent from the current NFT limits. */
  readonly digital_goods_spending?: string | null;
}

/** A saved way to pay. */
export interface LinkedPaymentMethod {
  /** Name of the method; `bank_card` is the value seen. */
  readonly method?: string | null;
  /** The saved cards of this method. */
  readonly cards?: readonly LinkedCard[] | null;
}

/** A saved card, without its number. */
export interface LinkedCard {
  /** Brand of the card. */
  readonly brand?: string | null;
  /** Identifier of the card. */
  readonly card_id?: string | null;
  /** When it was saved, ISO 8601 UTC. */
  readonly created_at?: string | null;
  /** Last digits of its number. */
  readonly last_digits?: string | null;
}

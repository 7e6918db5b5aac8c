/**
 * How the service refuses to register a card: status, number where it gives one,
 * description, and the field at fault where it is one.
 *
 * Source: service interface, "Errors", "Card register".
 */
export const CARD_REFUSALS = {
  invalid_card_number: [400, null, "Invalid card", "card_number"],
  invalid_exp_month: [400, null, "Invalid exp month", "exp_month"],
  invalid_exp_year: [400, null, "Invalid year", "exp_year"],
  card_expired: [400, null, "Card expired", null],
  invalid_billing_address: [
    400,
    121,
    "invalid billing address information",
    "billing_address",
  ],
  too_many_cards: [
    400,
    109,
    "attempt to register more cards than allowed",
    null,
  ],
  card_already_registered: [400, 113, "card already registered", "card_number"],
  user_not_found: [400, 309, "user not found", "user_id"],
  user_banned: [400, 310, "user banned", "user_id"],
  restricted_action: [403, 1022, "restricted action", null],
  partner_not_allowed: [403, 1023, "partner not allowed", null],
  unauthorized: [403, 9002, "invalid partner key", null],
  partner_blocked: [403, 1006, "partner is blocked", null],
} as const;

/** The name of one of them. */
export type CardRefusal = keyof typeof CARD_REFUSALS;

/**
 * How the service refuses to register a card: by a number, a description, or
 * both.
 *
 * Source: service interface, "Errors", "Card register".
 */
export const CARD_REFUSALS = {
  invalid_card_number: refusal(400, null, "Invalid card", "card_number"),
  invalid_exp_month: refusal(400, null, "Invalid exp month", "exp_month"),
  invalid_exp_year: refusal(400, null, "Invalid year", "exp_year"),
  card_expired: refusal(400, null, "Card expired"),
  invalid_billing_address: refusal(
    400,
    121,
    "invalid billing address information",
    "billing_address",
  ),
  too_many_cards: refusal(
    400,
    109,
    "attempt to register more cards than allowed",
  ),
  card_already_registered: refusal(
    400,
    113,
    "card already registered",
    "card_number",
  ),
  user_not_found: refusal(400, 309, "user not found", "user_id"),
  user_banned: refusal(400, 310, "user banned", "user_id"),
  restricted_action: refusal(403, 1022, "restricted action"),
  partner_not_allowed: refusal(403, 1023, "partner not allowed"),
  unauthorized: refusal(403, 9002, "invalid partner key"),
  partner_blocked: refusal(403, 1006, "partner is blocked"),
};

/** One of them; the field is the one at fault, where one is. */
export interface CardRefusal {
  readonly status: 400 | 403;
  readonly code: number | null;
  readonly description: string;
  readonly field: string | null;
}

function refusal(
  status: 400 | 403,
  code: number | null,
  description: string,
  field: string | null = null,
): CardRefusal {
  return { status, code, description, field };
}

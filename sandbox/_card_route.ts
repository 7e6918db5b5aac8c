import { answer, hasKey, type Parts } from "./_app.ts";
import { isObject } from "./_exact_json.ts";
import type { SandboxUser } from "./sandbox_user.ts";

/** What is wrong: status, code (absent where none is given), description. */
type Wrong = readonly [
  status: 400 | 403,
  code: number | null,
  description: string,
];

const INVALID_CARD: Wrong = [400, null, "Invalid card"];
const INVALID_MONTH: Wrong = [400, null, "Invalid exp month"];
const INVALID_YEAR: Wrong = [400, null, "Invalid year"];
const EXPIRED: Wrong = [400, null, "Card expired"];
const BILLING: Wrong = [400, 121, "invalid billing address information"];
const TOO_MANY: Wrong = [
  400,
  109,
  "attempt to register more cards than allowed",
];
const REGISTERED: Wrong = [400, 113, "card already registered"];
const NO_USER: Wrong = [400, 309, "user not found"];
const BANNED: Wrong = [400, 310, "user banned"];
const RESTRICTED: Wrong = [403, 1022, "restricted action"];
const NOT_ALLOWED: Wrong = [403, 1023, "partner not allowed"];
const WRONG_KEY: Wrong = [403, 9002, "invalid partner key"];
const BLOCKED: Wrong = [403, 1006, "partner is blocked"];

/** POST /api/v1/partner/register */
export async function cardRoute(
  parts: Parts,
  request: Request,
): Promise<Response> {
  const gate = wrongPartner(parts, request);
  if (gate) return refuse(parts, gate);
  let body: unknown;
  try {
    body = JSON.parse(await request.text());
  } catch {
    body = null;
  }
  const fields = isObject(body) ? body : {};
  const user = parts.users.get(textOf(fields.user_id));
  const wrong = wrongCard(fields, parts.sandbox.now()) ??
    wrongUser(parts, user, textOf(fields.card_number));
  if (wrong || !user) return refuse(parts, wrong ?? NO_USER);
  const number = textOf(fields.card_number);
  const nowMs = parts.sandbox.now();
  const brand = number.startsWith("4") ? "VISA" : "MASTERCARD";
  const card = parts.maker.card(nowMs, number.slice(-4), brand);
  parts.sandbox.amendUser(user.userId, { cards: [...user.cards, card] });
  return answer(200, { card_id: card.cardId });
}

function refuse(parts: Parts, [status, code, description]: Wrong): Response {
  return answer(status, {
    status: "error",
    ...(code !== null && { code }),
    error_description: description,
    ...(code === 121 && { request_id: parts.maker.sessionId() }),
  });
}

function wrongPartner(parts: Parts, request: Request): Wrong | null {
  const { partner } = parts.sandbox;
  if (!hasKey(parts, request)) return WRONG_KEY;
  if (partner.blocked) return BLOCKED;
  return partner.cardRegistration ? null : NOT_ALLOWED;
}

function wrongCard(
  fields: Record<string, unknown>,
  nowMs: number,
): Wrong | null {
  const month = textOf(fields.exp_month);
  const year = textOf(fields.exp_year);
  if (!isCardNumber(textOf(fields.card_number))) return INVALID_CARD;
  if (!/^(0[1-9]|1[0-2])$/.test(month)) return INVALID_MONTH;
  if (!/^\d{4}$/.test(year)) return INVALID_YEAR;
  // A card is good until the end of its month.
  if (Date.UTC(Number(year), Number(month), 1) <= nowMs) return EXPIRED;
  return isBillingAddress(fields.billing_address) ? null : BILLING;
}

function wrongUser(
  parts: Parts,
  user: SandboxUser | null,
  number: string,
): Wrong | null {
  if (!user) return NO_USER;
  if (user.banned) return BANNED;
  if (!user.createdByPartner) return RESTRICTED;
  // Numbers are not kept, so the last digits stand for the card.
  const known = user.cards.some((card) => card.lastDigits === number.slice(-4));
  if (known) return REGISTERED;
  return user.cards.length >= parts.sandbox.partner.cardsPerUser
    ? TOO_MANY
    : null;
}

/** Twelve to nineteen digits whose Luhn sum is right. */
function isCardNumber(number: string): boolean {
  if (!/^\d{12,19}$/.test(number)) return false;
  let sum = 0;
  for (let at = 0; at < number.length; at++) {
    const digit = Number(number[number.length - 1 - at]);
    const doubled = at % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

function isBillingAddress(value: unknown): boolean {
  if (!isObject(value)) return false;
  const country = textOf(value.country);
  const needsState = country === "US" || country === "CA";
  return /^[A-Z]{2}$/.test(country) &&
    (needsState
      ? /^[A-Z]{2}$/.test(textOf(value.state))
      : value.state === undefined || typeof value.state === "string") &&
    /^[A-Za-z0-9 -]{2,10}$/.test(textOf(value.postal_code)) &&
    isPlace(textOf(value.city), 25) && isPlace(textOf(value.street), 35);
}

/** Letters, digits and spaces, not all digits. */
function isPlace(text: string, most: number): boolean {
  return text.length >= 2 && text.length <= most &&
    /^[A-Za-z0-9 ]+$/.test(text) && !/^[\d ]+$/.test(text);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

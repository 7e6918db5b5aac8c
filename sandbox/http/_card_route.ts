import type { SandboxEngine } from "../service/sandbox_engine.ts";
import { answer, bodyFields, hasKey } from "./answer.ts";
import { brokenCardRules } from "../../core/rules/request_rules.ts";
import type { SandboxUser } from "../engine/sandbox_user.ts";

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
  engine: SandboxEngine,
  request: Request,
): Promise<Response> {
  const gate = wrongPartner(engine, request);
  if (gate) return refuse(engine, gate);
  const fields = await bodyFields(request);
  const user = engine.users.get(textOf(fields.user_id));
  const wrong = wrongCard(fields, engine.now()) ??
    wrongUser(engine, user, textOf(fields.card_number));
  if (wrong || !user) return refuse(engine, wrong ?? NO_USER);
  const number = textOf(fields.card_number);
  const nowMs = engine.now();
  const brand = number.startsWith("4") ? "VISA" : "MASTERCARD";
  const card = engine.factory.card(nowMs, number.slice(-4), brand);
  engine.userCommands.amend(user.userId, { cards: [...user.cards, card] });
  return answer(200, { card_id: card.cardId });
}

function refuse(
  engine: SandboxEngine,
  [status, code, description]: Wrong,
): Response {
  return answer(status, {
    status: "error",
    ...(code !== null && { code }),
    error_description: description,
    ...(code === 121 && { request_id: engine.factory.uuid() }),
  });
}

function wrongPartner(engine: SandboxEngine, request: Request): Wrong | null {
  const { partner } = engine;
  if (!hasKey(engine, request)) return WRONG_KEY;
  if (partner.blocked) return BLOCKED;
  return partner.cardRegistration ? null : NOT_ALLOWED;
}

function wrongCard(
  fields: Readonly<Record<string, unknown>>,
  nowMs: number,
): Wrong | null {
  const broken = new Set(brokenCardRules(fields).map(({ field }) => field));
  if (broken.has("card_number")) return INVALID_CARD;
  if (!hasLuhnSum(textOf(fields.card_number))) return INVALID_CARD;
  if (broken.has("exp_month")) return INVALID_MONTH;
  if (broken.has("exp_year")) return INVALID_YEAR;
  if (isExpired(fields, nowMs)) return EXPIRED;
  // An empty user id is answered like an unknown one, after the other checks.
  broken.delete("user_id");
  return broken.size > 0 ? BILLING : null;
}

/** A card is good until the end of its month. */
function isExpired(
  { exp_month, exp_year }: Readonly<Record<string, unknown>>,
  nowMs: number,
): boolean {
  return Date.UTC(Number(exp_year), Number(exp_month), 1) <= nowMs;
}

function wrongUser(
  engine: SandboxEngine,
  user: SandboxUser | null,
  number: string,
): Wrong | null {
  if (!user) return NO_USER;
  if (user.banned) return BANNED;
  if (!user.createdByPartner) return RESTRICTED;
  // Numbers are not kept, so the last digits stand for the card.
  const known = user.cards.some((card) => card.lastDigits === number.slice(-4));
  if (known) return REGISTERED;
  return user.cards.length >= engine.partner.cardsPerUser ? TOO_MANY : null;
}

/** Whether a text is digits whose Luhn sum is right. */
function hasLuhnSum(number: string): boolean {
  if (!/^\d+$/.test(number)) return false;
  let sum = 0;
  for (let at = 0; at < number.length; at++) {
    const digit = Number(number[number.length - 1 - at]);
    const doubled = at % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

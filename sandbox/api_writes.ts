import type { AssetTable } from "../core/assets/environment.ts";
import { isRecord } from "../core/guards.ts";
import { plainDecimal } from "../core/json/exact_json.ts";
import {
  CARD_REFUSALS,
  type CardRefusal,
} from "../core/rules/card_refusals.ts";
import {
  ExactNumber,
  parseWithExactNumbers,
} from "../core/json/exact_number.ts";
import {
  defaultCommodity,
  FIAT_DECIMALS,
  minimumAmount,
} from "../core/rules/session_limits.ts";
import {
  type BrokenSessionRule,
  checkSession,
  type SessionRuleCode,
} from "../core/rules/session_rules.ts";
import {
  brokenCardRules,
  brokenUserRules,
} from "../core/rules/request_rules.ts";
import { answer, hasKey, UNAUTHORIZED } from "./answer.ts";
import type { Service } from "./service.ts";
import type { SessionRequest } from "./sessions.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The fields of a JSON body; none of a body that is no JSON object. */
async function bodyFields(request: Request): Promise<Fields> {
  try {
    const body: unknown = JSON.parse(await request.text());
    return isRecord(body) ? body : {};
  } catch {
    return {};
  }
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** POST /api/external/hpp/create-session */
export async function sessionRoute(
  service: Service,
  request: Request,
): Promise<Response> {
  if (!hasKey(service, request)) return answer(401, { message: UNAUTHORIZED });
  const session = readSession(service, await request.text());
  if (typeof session === "string") {
    return answer(400, { message: `invalid request: ${session}` });
  }
  const { sessionId, requestId } = service.sessions.create(session);
  return answer(200, { sessionId, requestId });
}

/** Reads the body, or says what is wrong with it. */
function readSession(
  { assets, partner: { amountsOptional } }: Service,
  text: string,
): SessionRequest | string {
  let body: unknown;
  try {
    body = parseWithExactNumbers(text);
  } catch {
    return "body is not JSON";
  }
  if (!isRecord(body)) return "body must be an object";
  if (body.flow_type === undefined) return "flow_type must be specified";
  const { broken: [broken], commodityAmount, currencyAmount } = checkSession({
    ...body,
    commodity_amount: amountOf(body.commodity_amount),
    currency_amount: amountOf(body.currency_amount),
  }, {
    assets,
    allowsUnlistedAssets: false,
    needsSmartContracts: false,
    amountsOptional,
  });
  if (broken !== undefined) return sentenceOf(broken, body, assets);
  return {
    flowType: String(body.flow_type),
    userId: textOf(body.user_id),
    commodity: textOf(body.commodity),
    network: textOf(body.network),
    commodityAmount,
    currency: textOf(body.currency),
    currencyAmount,
    walletAddress: textOf(body.wallet_address),
  };
}

/** A number's digits; null, which no amount may be, for any other value. */
function amountOf(value: unknown): string | null | undefined {
  if (value === undefined) return undefined;
  return value instanceof ExactNumber ? plainDecimal(value.text) : null;
}

/** How the service words a broken rule of a field. */
const SENTENCES: Readonly<Record<SessionRuleCode, string>> = {
  unknown_flow: "FIELD must be simple or simple_full_restrict",
  not_text: "FIELD must be a string",
  missing_network: "ASSET is not supported",
  unlisted_commodity: "ASSET is not supported",
  unlisted_network: "ASSET is not supported",
  no_smart_contracts: "ASSET is not supported",
  wrong_address: "FIELD is not valid for the commodity",
  not_decimal: "FIELD must be a number",
  not_positive: "FIELD must be greater than 0",
  missing_currency: "currency must be specified with currency_amount",
  unknown_currency: "currency CURRENCY is not supported",
  currency_not_in_sandbox: "currency CURRENCY is not supported",
  too_many_decimals: `FIELD must have at most ${FIAT_DECIMALS} decimals`,
  below_minimum: "FIELD must be at least MINIMUM",
  missing_in_restricted_flow:
    "wallet_address and either commodity_amount or currency_amount must be specified",
};

function sentenceOf(
  { field, code }: BrokenSessionRule,
  fields: Fields,
  table: AssetTable,
): string {
  const { commodity, network = "bitcoin", currency } = fields;
  const words: Readonly<Record<string, unknown>> = {
    FIELD: field,
    ASSET: `commodity ${commodity ?? "BTC"} on network ${network}`,
    CURRENCY: currency,
    MINIMUM: minimumAmount(String(commodity ?? defaultCommodity(table))),
  };
  return SENTENCES[code].replace(/[A-Z]{5,}/g, (name) => String(words[name]));
}

/** POST /api/external/users/create */
export async function userCreateRoute(
  service: Service,
  request: Request,
): Promise<Response> {
  if (!hasKey(service, request)) {
    return answer(401, { message: "ERR_UNAUTHORIZED" });
  }
  const fields = await bodyFields(request);
  if (!service.partner.userCreation) {
    return refuse(["partner_id", "user creation is not allowed"]);
  }
  const [broken] = brokenUserRules(fields);
  if (broken !== undefined) {
    const { field } = broken;
    return answer(400, { field, message: `Invalid ${field} format` });
  }
  const refusal = refusalOf(service, fields);
  if (refusal !== null) return refuse(refusal);
  const phone = String(fields.phone);
  const time = (ms: number) => new Date(ms).toISOString();
  const existing = service.users.withPhone(phone);
  if (existing) {
    return answer(409, {
      message: "user with this phone already exists",
      user_id: existing.userId,
      created_at: time(existing.createdAtMs),
    });
  }
  const user = service.createUser({
    phone,
    country: String(fields.country_of_residence),
    lkyc: "progress",
    createdByPartner: true,
  });
  const { userId: user_id } = user;
  return answer(200, { created_at: time(user.createdAtMs), user_id });
}

type Refusal = readonly [field: string, message: string];

function refuse([field, message]: Refusal): Response {
  return answer(403, { field, message });
}

/** Why the service does not take a user whose fields are sound, or null. */
function refusalOf(service: Service, fields: Fields): Refusal | null {
  const { restrictedCountries, unsupportedStates } = service.partner;
  const country = String(fields.country_of_residence);
  const state = String(fields.state_of_residence ?? "");
  if (fields.has_accepted_terms_of_service !== true) {
    return [
      "has_accepted_terms_of_service",
      "user must accept the terms of service",
    ];
  }
  if (restrictedCountries.includes(country)) {
    return ["country_of_residence", "restricted country"];
  }
  if (country === "USA" && unsupportedStates.includes(state)) {
    return ["state_of_residence", "unsupported state"];
  }
  const [year = 0, month = 1, day = 1] = String(fields.date_of_birth)
    .split("-").map(Number);
  return Date.UTC(year + 18, month - 1, day) <= service.now()
    ? null
    : ["date_of_birth", "user is under 18"];
}

/** POST /api/v1/partner/register */
export async function cardRoute(
  service: Service,
  request: Request,
): Promise<Response> {
  const { factory, partner } = service;
  const refuse = (error: CardRefusal) => {
    const [status, code, error_description] = CARD_REFUSALS[error];
    return answer(status, {
      status: "error",
      ...(code !== null && { code }),
      error_description,
      ...(error === "invalid_billing_address" &&
        { request_id: factory.uuid() }),
    });
  };
  if (!hasKey(service, request)) return refuse("unauthorized");
  if (partner.blocked) return refuse("partner_blocked");
  if (!partner.cardRegistration) return refuse("partner_not_allowed");
  const fields = await bodyFields(request);
  const nowMs = service.now();
  const wrong = wrongCard(fields, nowMs);
  if (wrong !== null) return refuse(wrong);
  const user = service.users.get(textOf(fields.user_id) ?? "");
  if (user === null) return refuse("user_not_found");
  if (user.banned) return refuse("user_banned");
  if (!user.createdByPartner) return refuse("restricted_action");
  const number = textOf(fields.card_number) ?? "";
  const digits = number.slice(-4);
  // Numbers are not kept, so the last digits stand for the card.
  if (user.cards.some(({ lastDigits }) => lastDigits === digits)) {
    return refuse("card_already_registered");
  }
  if (user.cards.length >= partner.cardsPerUser) {
    return refuse("too_many_cards");
  }
  const brand = number.startsWith("4") ? "VISA" : "MASTERCARD";
  const card = factory.card(nowMs, digits, brand);
  service.amendUser(user.userId, { cards: [...user.cards, card] });
  return answer(200, { card_id: card.cardId });
}

function wrongCard(fields: Fields, nowMs: number): CardRefusal | null {
  const broken = new Set(brokenCardRules(fields).map(({ field }) => field));
  const number = textOf(fields.card_number) ?? "";
  if (broken.has("card_number") || !hasLuhnSum(number)) {
    return "invalid_card_number";
  }
  if (broken.has("exp_month")) return "invalid_exp_month";
  if (broken.has("exp_year")) return "invalid_exp_year";
  // A card is good until the end of its month.
  const { exp_year, exp_month } = fields;
  if (Date.UTC(Number(exp_year), Number(exp_month), 1) <= nowMs) {
    return "card_expired";
  }
  // An empty user id is answered like an unknown one, after the other checks.
  broken.delete("user_id");
  return broken.size > 0 ? "invalid_billing_address" : null;
}

/** Whether a text is digits whose Luhn sum is right. */
function hasLuhnSum(number: string): boolean {
  if (!/^\d+$/.test(number)) return false;
  const sum = [...number].reverse().reduce((total, digit, at) => {
    const value = Number(digit) * (at % 2 === 1 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}

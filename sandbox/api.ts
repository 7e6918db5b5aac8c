import { Hono } from "hono";
import type { AssetTable } from "../core/assets/environment.ts";
import { isRecord, jsonRecord } from "../core/guards.ts";
import {
  ExactNumber,
  parseWithExactNumbers,
  plainDecimal,
} from "../core/json/json.ts";
import {
  brokenCardRules,
  brokenUserRules,
  CARD_REFUSALS,
  type CardRefusal,
} from "../core/rules/request_rules.ts";
import {
  defaultCommodity,
  minimumAmount,
} from "../core/rules/session_limits.ts";
import {
  type BrokenSessionRule,
  checkSession,
  SESSION_REFUSALS,
} from "../core/rules/session_rules.ts";
import { answer, html, invalid } from "./answer.ts";
import { ordersRoute, usersRoute } from "./lists.ts";
import type { Service, SessionRequest } from "./service.ts";

type Route = (
  service: Service,
  request: Request,
) => Response | Promise<Response>;

/** The service's five endpoints, with the faults of the API around them. */
export function apiRoutes(service: Service): Hono {
  const app = new Hono();
  const unauthorized = (message: string) => () => answer(401, { message });
  const noKey = unauthorized("unauthorized: API key is missing or invalid");
  const around = (route: Route, refuse = noKey) => {
    const handle = withApiFaults(service, async (request) => {
      const hasKey = request.headers.get("x-api-key") === service.apiKey;
      if (!hasKey) return refuse();
      try {
        return await route(service, request);
      } catch (refusal) {
        if (refusal instanceof Response) return refusal;
        throw refusal;
      }
    });
    return (context: { req: { raw: Request } }) => handle(context.req.raw);
  };
  app.get("/external/orders", around(ordersRoute));
  app.get("/external/users", around(usersRoute));
  app.post("/external/hpp/create-session", around(sessionRoute));
  app.post(
    "/external/users/create",
    around(userCreateRoute, unauthorized("ERR_UNAUTHORIZED")),
  );
  app.post(
    "/v1/partner/register",
    around(cardRoute, () => refuseCard(service, "unauthorized")),
  );
  return app;
}

/** How long a request that is never answered stays open, in milliseconds. */
const HANGS_FOR_MS = 120_000;

type Handler = (request: Request) => Promise<Response>;

/** Adds the API's faults to a handler. */
function withApiFaults(service: Service, handle: Handler): Handler {
  const { injector, clock, closing } = service;
  return async (request) => {
    injector.counters.apiRequests++;
    if (injector.strikes("apiTooManyRequests")) {
      const seconds = injector.stream("apiTooManyRequests.s").int(1, 3);
      return answer(429, { message: "too many requests" }, {
        "retry-after": String(seconds),
      });
    }
    if (injector.strikes("apiTimeout")) {
      const stop = AbortSignal.any([request.signal, closing]);
      await clock.sleep(HANGS_FOR_MS, stop).catch(() => {});
      return answer(504, { message: "gateway timeout" });
    }
    if (injector.strikes("apiServerError")) {
      const random = injector.stream("apiServerError.pick");
      const status = random.pick([500, 502, 503]);
      // Half of the errors come after the request was carried out.
      if (random.chance(0.5)) await handle(request);
      return status === 502
        ? html(status, "502 Bad Gateway")
        : answer(status, { message: "internal server error" });
    }
    const response = await handle(request);
    if (!injector.strikes("apiSlowBody")) return response;
    return await slowly(response, (ms) => clock.sleep(ms, closing));
  };
}

/** Pieces of a slow body, and the pause before each. */
const SLOW_PIECES = 4;
const SLOW_PAUSE_MS = 1_000;

/** The same answer, its body in pieces with pauses between. */
async function slowly(
  response: Response,
  sleep: (ms: number) => Promise<void>,
): Promise<Response> {
  const bytes = new Uint8Array(await response.arrayBuffer());
  const size = Math.ceil(bytes.length / SLOW_PIECES);
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      await sleep(SLOW_PAUSE_MS).catch(() => {});
      controller.enqueue(bytes.subarray(at, at + size));
      at += size;
      if (at >= bytes.length) controller.close();
    },
  }, { highWaterMark: 0 });
  const { status, headers } = response;
  return new Response(body, { status, headers });
}

type Fields = Readonly<Record<string, unknown>>;

/** The fields of a JSON body; none of a body that is no JSON object. */
async function bodyFields(request: Request): Promise<Fields> {
  return jsonRecord(await request.text()) ?? {};
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** POST /api/external/hpp/create-session */
async function sessionRoute(
  service: Service,
  request: Request,
): Promise<Response> {
  const session = readSession(service, await request.text());
  const { sessionId, requestId } = service.sessions.create(session);
  return answer(200, { sessionId, requestId });
}

/** Reads what a session is to lock; throws the answer that refuses it. */
function readSession(
  { assets, partner: { amountsOptional } }: Service,
  text: string,
): SessionRequest {
  let body: unknown;
  try {
    body = parseWithExactNumbers(text);
  } catch {
    throw invalid("body is not JSON");
  }
  if (!isRecord(body)) throw invalid("body must be an object");
  if (body.flow_type === undefined) {
    throw invalid("flow_type must be specified");
  }
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
  if (broken !== undefined) throw invalid(sentenceOf(broken, body, assets));
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
  return SESSION_REFUSALS[code].replace(
    /[A-Z]{5,}/g,
    (name) => String(words[name]),
  );
}

/** POST /api/external/users/create */
async function userCreateRoute(
  service: Service,
  request: Request,
): Promise<Response> {
  const fields = await bodyFields(request);
  const refuse = (field: string, message: string) =>
    answer(403, { field, message });
  const { partner } = service;
  if (!partner.userCreation) {
    return refuse("partner_id", "user creation is not allowed");
  }
  const [broken] = brokenUserRules(fields);
  if (broken !== undefined) {
    const { field } = broken;
    return answer(400, { field, message: `Invalid ${field} format` });
  }
  const text = (name: string) => String(fields[name]);
  if (fields.has_accepted_terms_of_service !== true) {
    return refuse(
      "has_accepted_terms_of_service",
      "user must accept the terms of service",
    );
  }
  const country = text("country_of_residence");
  if (partner.restrictedCountries.includes(country)) {
    return refuse("country_of_residence", "restricted country");
  }
  if (
    country === "USA" &&
    partner.unsupportedStates.includes(text("state_of_residence"))
  ) return refuse("state_of_residence", "unsupported state");
  const [year = 0, month = 1, day = 1] = text("date_of_birth")
    .split("-").map(Number);
  if (Date.UTC(year + 18, month - 1, day) > service.now()) {
    return refuse("date_of_birth", "user is under 18");
  }
  const time = (ms: number) => new Date(ms).toISOString();
  const existing = service.userStore.withPhone(text("phone"));
  if (existing) {
    return answer(409, {
      message: "user with this phone already exists",
      user_id: existing.userId,
      created_at: time(existing.createdAtMs),
    });
  }
  const user = service.createUser({
    ...{ phone: text("phone"), country, lkyc: "progress" },
    createdByPartner: true,
  });
  const { userId: user_id } = user;
  return answer(200, { created_at: time(user.createdAtMs), user_id });
}

/** The documented answer to a card that is not registered. */
function refuseCard({ factory }: Service, error: CardRefusal): Response {
  const [status, code, error_description] = CARD_REFUSALS[error];
  return answer(status, {
    status: "error",
    ...(code !== null && { code }),
    error_description,
    ...(error === "invalid_billing_address" && { request_id: factory.uuid() }),
  });
}

/** POST /api/v1/partner/register */
async function cardRoute(
  service: Service,
  request: Request,
): Promise<Response> {
  const { factory, partner } = service;
  const refuse = (error: CardRefusal) => refuseCard(service, error);
  if (partner.blocked) return refuse("partner_blocked");
  if (!partner.cardRegistration) return refuse("partner_not_allowed");
  const fields = await bodyFields(request);
  const nowMs = service.now();
  const wrong = wrongCard(fields, nowMs);
  if (wrong !== null) return refuse(wrong);
  const user = service.user(textOf(fields.user_id) ?? "");
  if (user === null) return refuse("user_not_found");
  if (user.banned) return refuse("user_banned");
  if (!user.createdByPartner) return refuse("restricted_action");
  const number = String(fields.card_number);
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

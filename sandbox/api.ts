import { Hono } from "hono";
import type { AssetTable } from "../core/assets/environment.ts";
import { defined, isRecord, jsonRecord } from "../core/guards.ts";
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
import type { Service } from "./service.ts";

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

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** POST /api/external/hpp/create-session */
async function sessionRoute(
  { assets, partner: { amountsOptional }, sessions }: Service,
  request: Request,
): Promise<Response> {
  let body: unknown;
  try {
    body = parseWithExactNumbers(await request.text());
  } catch {
    return invalid("body is not JSON");
  }
  if (!isRecord(body)) return invalid("body must be an object");
  if (body.flow_type === undefined) {
    return invalid("flow_type must be specified");
  }
  const amounts = {
    commodity_amount: amountOf(body.commodity_amount),
    currency_amount: amountOf(body.currency_amount),
  };
  const { broken: [broken], ...checked } = checkSession(
    { ...body, ...amounts },
    {
      assets,
      allowsUnlistedAssets: false,
      needsSmartContracts: false,
      amountsOptional,
    },
  );
  if (broken !== undefined) return invalid(sentenceOf(broken, body, assets));
  const { sessionId, requestId } = sessions.create(defined({
    flow_type: textOf(body.flow_type),
    user_id: textOf(body.user_id),
    commodity: textOf(body.commodity),
    network: textOf(body.network),
    commodity_amount: checked.commodityAmount ?? undefined,
    currency: textOf(body.currency),
    currency_amount: checked.currencyAmount ?? undefined,
    wallet_address: textOf(body.wallet_address),
  }));
  return answer(200, { sessionId, requestId });
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
  const { partner } = service;
  const fields = await bodyFields(request);
  const [broken] = brokenUserRules(fields);
  if (partner.userCreation && broken !== undefined) {
    const { field } = broken;
    return answer(400, { field, message: `Invalid ${field} format` });
  }
  const text = (name: string) => String(fields[name]);
  const country = text("country_of_residence");
  const isUnsupported = country === "USA" &&
    partner.unsupportedStates.includes(text("state_of_residence"));
  const [year = 0, month = 1, day = 1] = text("date_of_birth")
    .split("-").map(Number);
  const isMinor = Date.UTC(year + 18, month - 1, day) > service.now();
  const terms = "has_accepted_terms_of_service";
  const isRestricted = partner.restrictedCountries.includes(country);
  const refusals: readonly (readonly [boolean, string, string])[] = [
    [!partner.userCreation, "partner_id", "user creation is not allowed"],
    [fields[terms] !== true, terms, "user must accept the terms of service"],
    [isRestricted, "country_of_residence", "restricted country"],
    [isUnsupported, "state_of_residence", "unsupported state"],
    [isMinor, "date_of_birth", "user is under 18"],
  ];
  const [, field, message] = refusals.find(([applies]) => applies) ?? [];
  if (field !== undefined) return answer(403, { field, message });
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
  const fields = await bodyFields(request);
  const nowMs = service.now();
  const broken = new Set(brokenCardRules(fields).map(({ field }) => field));
  const number = String(fields.card_number);
  const lastDigits = number.slice(-4);
  // A card is good until the end of its month.
  const endMs = Date.UTC(Number(fields.exp_year), Number(fields.exp_month), 1);
  const user = service.user(textOf(fields.user_id) ?? "");
  const cards = user?.cards ?? [];
  const isWrongNumber = broken.delete("card_number") || !hasLuhnSum(number);
  const isWrongMonth = broken.delete("exp_month");
  const isWrongYear = broken.delete("exp_year");
  // An empty user id is answered like an unknown one, after the other checks.
  broken.delete("user_id");
  const refusals: readonly (readonly [boolean, CardRefusal])[] = [
    [partner.blocked, "partner_blocked"],
    [!partner.cardRegistration, "partner_not_allowed"],
    [isWrongNumber, "invalid_card_number"],
    [isWrongMonth, "invalid_exp_month"],
    [isWrongYear, "invalid_exp_year"],
    [endMs <= nowMs, "card_expired"],
    [broken.size > 0, "invalid_billing_address"],
    [user === null, "user_not_found"],
    [user?.banned === true, "user_banned"],
    [user?.createdByPartner === false, "restricted_action"],
    // Numbers are not kept, so the last digits stand for the card.
    [
      cards.some((card) => card.lastDigits === lastDigits),
      "card_already_registered",
    ],
    [cards.length >= partner.cardsPerUser, "too_many_cards"],
  ];
  const refusal = refusals.find(([applies]) => applies)?.[1];
  if (user === null || refusal !== undefined) {
    return refuseCard(service, refusal ?? "user_not_found");
  }
  const brand = number.startsWith("4") ? "VISA" : "MASTERCARD";
  const card = factory.card(nowMs, lastDigits, brand);
  service.amendUser(user.userId, { cards: [...cards, card] });
  return answer(200, { card_id: card.cardId });
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

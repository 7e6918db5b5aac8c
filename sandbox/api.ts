import { Hono } from "hono";
import { ExactNumber } from "../core/json/exact_number.ts";
import { readQueryTime } from "../core/time/service_time.ts";
import { cardRoute, sessionRoute, userCreateRoute } from "./api_writes.ts";
import { answer, hasKey, UNAUTHORIZED } from "./answer.ts";
import type { FaultInjector } from "./faults.ts";
import { dottedAsset, nextSteps, type SandboxOrder } from "./orders.ts";
import { decimalOf, withPlaces } from "./prices.ts";
import { orderTime } from "./seeded.ts";
import type { Service } from "./service.ts";
import type { Page, Query } from "./store.ts";
import { canBuy, type SandboxUser } from "./users.ts";

type Route = (
  service: Service,
  request: Request,
) => Response | Promise<Response>;

/** The service's five endpoints, with the faults of the API around them. */
export function apiRoutes(service: Service): Hono {
  const app = new Hono();
  const around = (route: Route) => {
    const handle = withApiFaults(service, (request) => route(service, request));
    return (context: { req: { raw: Request } }) => handle(context.req.raw);
  };
  app.get("/external/orders", around(ordersRoute));
  app.get("/external/users", around(usersRoute));
  app.post("/external/hpp/create-session", around(sessionRoute));
  app.post("/external/users/create", around(userCreateRoute));
  app.post("/v1/partner/register", around(cardRoute));
  return app;
}

/** How long a request that is never answered stays open, in milliseconds. */
const HANGS_FOR_MS = 120_000;

type Handler = (request: Request) => Response | Promise<Response>;

/** Adds the API's faults and its rate limit to a handler. */
function withApiFaults(service: Service, handle: Handler): Handler {
  const { injector, counters, clock, closing } = service;
  const isOverLimit = rateLimit(service);
  return async (request) => {
    counters.apiRequests++;
    if (isOverLimit() || injector.strikes("apiTooManyRequests")) {
      counters.apiTooManyRequests++;
      const seconds = injector.stream("apiTooManyRequests.s").int(1, 3);
      return answer(429, { message: "too many requests" }, {
        "retry-after": String(seconds),
      });
    }
    if (injector.strikes("apiTimeout")) {
      counters.apiTimeouts++;
      const stop = AbortSignal.any([request.signal, closing]);
      await clock.sleep(HANGS_FOR_MS, stop).catch(() => {});
      return answer(504, { message: "gateway timeout" });
    }
    if (injector.strikes("apiServerError")) {
      counters.apiServerErrors++;
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
    counters.apiSlowBodies++;
    return await slowly(response, (ms) => clock.sleep(ms, closing));
  };
}

function rateLimit(service: Service): () => boolean {
  const recent: number[] = [];
  return () => {
    const { requestsPerSecond } = service.partner;
    if (requestsPerSecond === null) return false;
    const nowMs = service.clock.now();
    while ((recent[0] ?? nowMs) <= nowMs - 1000) recent.shift();
    if (recent.length >= requestsPerSecond) return true;
    recent.push(nowMs);
    return false;
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

function html(status: number, text: string): Response {
  return new Response(`<html><body>${text}</body></html>`, {
    status,
    headers: { "content-type": "text/html" },
  });
}

// The lists of orders and users

/** What a filter of a list compares with its parameter, in which case. */
type Filters<Row> = Readonly<
  Record<string, readonly [of: (row: Row) => string, cased?: "lower" | "upper"]>
>;

const ORDER_FILTERS: Filters<SandboxOrder> = {
  status: [({ status }) => status],
  commodity: [dottedAsset, "lower"],
  card_id: [({ cardId }) => cardId],
  tx_id: [({ txId }) => txId],
  fail_reason: [({ failReason }) => failReason],
  payment_type: [({ paymentType }) => paymentType],
};

const USER_FILTERS: Filters<SandboxUser> = {
  lkyc_status: [({ lkyc }) => lkyc],
  fkyc_status: [({ fkyc }) => fkyc],
  phone_country: [({ phoneCountry }) => phoneCountry, "upper"],
  kyc_country: [({ country }) => country, "upper"],
};

/** GET /api/external/orders */
function ordersRoute(service: Service, request: Request): Response {
  const { orders, orderForm } = service;
  return listRoute(service, request, {
    entity: "order",
    window: ["start_date", "end_date"],
    filters: ORDER_FILTERS,
    page: ({ query, ids, most }) => {
      const cursorId = trueCursor(query.cursorId);
      if (!orders.isCursor(cursorId)) return "cursor_id is unknown";
      const among = ids && [...ids].flatMap((id) => orders.find(id));
      const page = orders.page({ ...query, cursorId }, most, among);
      return orderForm === "current"
        ? { ...page, nextCursorId: cursorAfter(service, query, page) }
        : page;
    },
    rowOf: (order) =>
      orderForm === "current"
        ? orderJson(order)
        : earlierForm(orderJson(order)),
    after: (page) => driftPages(service, page),
  });
}

/** GET /api/external/users */
function usersRoute(service: Service, request: Request): Response {
  return listRoute(service, request, {
    entity: "user",
    window: ["from", "to"],
    filters: USER_FILTERS,
    page: ({ query, most }) => service.users.page(query, most),
    rowOf: userJson,
    after: () => {},
  });
}

/** What is different between the two lists. */
interface List<Row> {
  readonly entity: "order" | "user";
  readonly window: readonly [after: string, upTo: string];
  readonly filters: Filters<Row>;
  /** The page that is asked for, or what is wrong with the question. */
  readonly page: (asked: {
    readonly query: Query<Row>;
    readonly ids: ReadonlySet<string> | undefined;
    readonly most: number;
  }) => Page<Row> | string;
  readonly rowOf: (row: Row) => Readonly<Record<string, unknown>>;
  /** What happens right after the page was read. */
  readonly after: (page: readonly Row[]) => void;
}

/** Most rows that a page has, and how many it has unless told. */
const [PAGE_ROWS, USUAL_ROWS] = [20, 10];

function listRoute<Row extends { readonly userId: string }>(
  service: Service,
  request: Request,
  list: List<Row>,
): Response {
  if (!hasKey(service, request)) return answer(401, { message: UNAUTHORIZED });
  const { injector, counters, orderForm } = service;
  const isOrders = list.entity === "order";
  const reader = new QueryReader(new URL(request.url).searchParams);
  const limit = reader.count("limit", USUAL_ROWS, PAGE_ROWS);
  const ids = isOrders ? reader.list("search_by") : undefined;
  const users = reader.list("user_ids");
  const query: Query<Row> = {
    limit,
    cursorId: isOrders ? reader.text("cursor_id") ?? "" : "",
    offset: reader.count("offset", 0, Number.MAX_SAFE_INTEGER),
    ascending: reader.ascending(),
    afterMs: reader.time(list.window[0]) ?? -Infinity,
    upToMs: reader.time(list.window[1]) ?? Infinity,
    filters: [
      ...reader.filters(list.filters),
      ...(users ? [({ userId }: Row) => users.has(userId)] : []),
    ],
  };
  if (reader.wrong !== null) return invalid(reader.wrong);
  const refused = refuseIds(service, [...ids ?? [], ...users ?? []]);
  if (refused !== null) return refused;
  const isShort = injector.strikes("pageShort") && limit > 1;
  const most = isShort
    ? injector.stream("pageShort.size").int(1, limit - 1)
    : PAGE_ROWS;
  const page = list.page({ query, ids, most });
  if (typeof page === "string") return invalid(page);
  if (page.rows.length === most && most < limit) counters.pagesShort++;
  const response = answer(200, {
    success: true,
    data: page.rows.map((row) => oddRow(service, list.entity, list.rowOf(row))),
    ...(isOrders && orderForm === "current" && {
      next_cursor_id: page.nextCursorId,
    }),
    ...statedTotal(service, page.total),
  });
  list.after(page.rows);
  return response;
}

function invalid(what: string): Response {
  return answer(400, { message: `invalid request: ${what}` });
}

/** Reads parameters and remembers the first that is wrong. */
class QueryReader {
  readonly #query: URLSearchParams;
  wrong: string | null = null;

  constructor(query: URLSearchParams) {
    this.#query = query;
  }

  /** The text of a parameter; an empty one counts as absent. */
  text(name: string): string | null {
    return this.#query.get(name) || null;
  }

  count(name: string, otherwise: number, most: number): number {
    const text = this.text(name);
    if (text === null) return otherwise;
    const value = /^\d+$/.test(text) ? Number(text) : NaN;
    if (value <= most) return value;
    this.wrong ??= most > PAGE_ROWS
      ? `${name} must be a non-negative integer`
      : `${name} must be an integer from 0 to ${most}`;
    return otherwise;
  }

  list(name: string): ReadonlySet<string> | undefined {
    const items = this.text(name)?.split(",").map((item) => item.trim());
    return items && new Set(items.filter((item) => item !== ""));
  }

  ascending(): boolean {
    const text = this.text("order_by")?.toLowerCase() ?? "desc";
    if (text !== "asc" && text !== "desc") {
      this.wrong ??= "order_by must be asc or desc";
    }
    return text === "asc";
  }

  time(name: string): number | null {
    const text = this.text(name);
    const timeMs = text === null ? null : readQueryTime(text);
    if (text !== null && timeMs === null) {
      this.wrong ??= `${name} must be YYYY-MM-DDTHH:MM:SSZ`;
    }
    return timeMs;
  }

  filters<Row>(filters: Filters<Row>): ((row: Row) => boolean)[] {
    return Object.entries(filters).flatMap(([name, [of, cased]]) => {
      const text = this.text(name);
      if (text === null) return [];
      const wanted = cased === "lower"
        ? text.toLowerCase()
        : cased === "upper"
        ? text.toUpperCase()
        : text;
      return [(row: Row) => of(row) === wanted];
    });
  }
}

/** An order as the orders endpoint writes it. */
function orderJson(order: SandboxOrder): Record<string, unknown> {
  const { fees } = order;
  return {
    order_id: order.orderId,
    click_id: order.clickId,
    currency: order.currency.toLowerCase(),
    currency_amount: new ExactNumber(order.currencyAmount),
    crypto: dottedAsset(order),
    crypto_amount: new ExactNumber(order.cryptoAmount),
    user_id: order.userId,
    status: order.status,
    card_id: order.cardId,
    created_at: orderTime(order.createdAtMs),
    changed_at: orderTime(order.changedAtMs),
    ...(fees && {
      partner_fee: new ExactNumber(fees.partnerFee),
      partner_fee_percent: new ExactNumber(fees.partnerFeePercent),
      service_fee: new ExactNumber(fees.serviceFee),
      service_fee_percent: new ExactNumber(fees.serviceFeePercent),
    }),
    external_order_id: order.externalOrderId,
    tx_id: order.txId,
    ...(order.processedThrough !== null && {
      processed_through: order.processedThrough,
    }),
    card_brand: order.cardBrand,
    fail_reason: order.failReason,
    payment_type: order.paymentType,
    additional_data: order.additionalData,
    address: order.address,
    ...(order.scInputData !== null && { sc_input_data: order.scInputData }),
  };
}

const NOT_IN_EARLIER_FORM: ReadonlySet<string> = new Set(
  ("external_order_id tx_id processed_through card_brand fail_reason " +
    "payment_type additional_data address sc_input_data").split(" "),
);

/** The row of an order as the earlier form of the answer has it. */
function earlierForm(row: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).filter(([field]) => !NOT_IN_EARLIER_FORM.has(field)),
  );
}

/** What a verified user may spend in all, in US cents. */
const LIMIT_CENTS = 1_000_000n;

/** A user as the users endpoint writes it. */
function userJson(user: SandboxUser): Record<string, unknown> {
  const usd = (cents: bigint) =>
    withPlaces(decimalOf(cents < 0n ? 0n : cents, 2), 2);
  const remaining = (spent: bigint) =>
    usd(canBuy(user) ? LIMIT_CENTS - spent : 0n);
  const time = (ms: number) => new Date(ms).toISOString();
  const { phone } = user;
  return {
    user_id: user.userId,
    country: user.country,
    phone: phone.slice(0, 3) + "*".repeat(Math.max(0, phone.length - 5)) +
      phone.slice(-2),
    phone_country: user.phoneCountry,
    lkyc_status: user.lkyc,
    fkyc_status: user.fkyc,
    banned: user.banned,
    created_at: time(user.createdAtMs),
    limits: {
      crypto_remaining: remaining(user.spentCents),
      crypto_spending: usd(user.spentCents),
      digital_goods_remaining: remaining(user.goodsSpentCents),
      digital_goods_spending: usd(user.goodsSpentCents),
    },
    linked_payment_methods: user.cards.length === 0 ? [] : [{
      method: "bank_card",
      cards: user.cards.map((card) => ({
        brand: card.brand,
        card_id: card.cardId,
        created_at: time(card.createdAtMs),
        last_digits: card.lastDigits,
      })),
    }],
  };
}

// The faults of a list

const AGAIN = /^again-(\d+)-/;

/** The cursor that an endless cursor stands for; any other is returned as is. */
function trueCursor(cursorId: string): string {
  return cursorId.replace(AGAIN, "");
}

/** The true cursor after a page, or a new one that leads to it once more. */
function cursorAfter(
  { injector, counters }: Service,
  { cursorId }: Query<SandboxOrder>,
  { nextCursorId }: Page<SandboxOrder>,
): string {
  const round = AGAIN.exec(cursorId)?.[1];
  const strikes = nextCursorId !== "" && injector.strikes("endlessCursor");
  // A walk that met an endless cursor repeats until the fault is switched off.
  const repeats = round !== undefined && injector.faults.endlessCursor > 0;
  if (!strikes && !repeats) return nextCursorId;
  counters.endlessCursors++;
  return `again-${Number(round ?? 0) + 1}-${trueCursor(cursorId)}`;
}

/** The field `total` of an answer: right, wrong or missing. */
function statedTotal(
  { injector, counters }: Service,
  count: number,
): { total?: number } {
  const isMissing = injector.strikes("totalMissing");
  const isWrong = injector.strikes("totalWrong");
  if (isMissing) {
    counters.totalsMissing++;
    return {};
  }
  if (!isWrong) return { total: count };
  counters.totalsWrong++;
  const off = injector.stream("totalWrong.off").pick([-7, -1, 1, 13]);
  return { total: Math.max(0, count + off) };
}

/** Adds or changes a row right after a page was read. */
function driftPages(service: Service, page: readonly SandboxOrder[]): void {
  const { injector, counters } = service;
  if (injector.strikes("pageInsert")) {
    counters.pageInserts++;
    const backMs = injector.stream("pageInsert.ms").int(0, 5_000);
    service.createOrder({}, service.now() - backMs);
  }
  if (injector.strikes("pageChange") && page.length > 0) {
    counters.pageChanges++;
    const order = injector.stream("pageChange.pick").pick(page);
    const [step] = nextSteps(order);
    if (step && order.status !== "success") {
      service.advance(order.orderId, step);
    } else service.amendOrder(order.orderId, {});
  }
}

/** The answer that refuses a search for one of these ids, or null. */
function refuseIds(
  { injector, counters }: Service,
  ids: readonly string[],
): Response | null {
  const id = ids.find((one) => injector.strikesId("refusedId", one));
  if (id === undefined) return null;
  counters.refusedIds++;
  const answers = [
    () => answer(403, { message: "forbidden" }),
    () => answer(400, { message: "invalid request" }),
    () => answer(500, { message: "internal server error" }),
    () => html(403, "Request blocked"),
  ];
  return answers[injector.ofId("refusedId.how", id).int(0, 3)]?.() ?? null;
}

/** Fields of a row, and the odd value each is written as. */
const ODD: Readonly<
  Record<"order" | "user", readonly (readonly [string, unknown])[]>
> = {
  order: [
    ["payment_type", true],
    ["card_brand", ["VISA"]],
    ["crypto_amount", "N/A"],
    ["crypto_amount", "1,5"],
    ["status", null],
    ["tx_id", { hash: "0x00" }],
    ["currency_amount", true],
    ["click_id", "a\u0000b"],
    // Deeper than a recursive reader can go.
    ["additional_data", nested(5_000)],
  ],
  user: [
    ["country", ["USA"]],
    ["lkyc_status", false],
    ["banned", "yes"],
    ["limits", []],
    ["linked_payment_methods", { cards: 1 }],
    ["phone", "+1\u00005"],
  ],
};

/** Times in the far future, as orders state them. */
const FAR_TIMES = ["2099-01-01 00:00:00", "9999-12-31 23:59:59"];

/** Fields that the faults of an id change, and what each is written as. */
export function oddFieldsOf(
  injector: FaultInjector,
  entity: "order" | "user",
  id: string,
): ReadonlyMap<string, unknown> {
  const fields = new Map<string, unknown>();
  if (injector.strikesId("oddRow", id)) {
    fields.set(...injector.ofId("oddRow.field", id).pick(ODD[entity]));
  }
  if (injector.strikesId("timeAhead", id)) {
    const random = injector.ofId("timeAhead.field", id);
    const field = entity === "order" && random.chance(0.6)
      ? "changed_at"
      : "created_at";
    fields.set(field, random.pick(FAR_TIMES));
  }
  if (injector.strikesId("rowWithoutId", id)) {
    fields.set(`${entity}_id`, undefined);
  }
  return fields;
}

/** The row with the fields that its id's faults change. */
function oddRow(
  { injector, counters }: Service,
  entity: "order" | "user",
  row: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const out: Record<string, unknown> = { ...row };
  const id = String(row[`${entity}_id`]);
  for (const [field, value] of oddFieldsOf(injector, entity, id)) {
    // The earlier form of an order lacks some fields.
    if (!(field in row)) continue;
    if (field === `${entity}_id`) counters.rowsWithoutId++;
    else if (field.endsWith("_at")) counters.timesAhead++;
    else counters.oddRows++;
    out[field] = value;
  }
  return out;
}

function nested(depth: number): unknown {
  let value: unknown = "deep";
  for (let level = 0; level < depth; level++) value = [value];
  return value;
}

import { decimalOfUnits } from "../core/decimal.ts";
import { ExactNumber } from "../core/json/json.ts";
import { readQueryTime } from "../core/time/service_time.ts";
import { answer, html, invalid } from "./answer.ts";
import type { FaultInjector } from "./faults.ts";
import {
  canBuy,
  dottedAsset,
  nextSteps,
  orderTime,
} from "./orders_and_users.ts";
import { withPlaces } from "./factory.ts";
import type { Service } from "./service.ts";
import type { Store } from "./store.ts";
import type { SandboxOrder, SandboxUser } from "./sandbox.ts";

type WireRow = Readonly<Record<string, unknown>>;

/** What is different between the two lists. */
interface List<Row> {
  readonly entity: "order" | "user";
  readonly store: Store<Row>;
  readonly window: readonly [after: string, upTo: string];
  /** Whether a row passes a parameter of this name. */
  readonly filters: Readonly<
    Record<string, (row: Row, wanted: string) => boolean>
  >;
  readonly rowOf: (row: Row) => WireRow;
}

/** GET /api/external/orders */
export function ordersRoute(service: Service, request: Request): Response {
  return listRoute(service, request, {
    entity: "order",
    store: service.orderStore,
    window: ["start_date", "end_date"],
    filters: {
      status: ({ status }, wanted) => status === wanted,
      commodity: (row, wanted) => dottedAsset(row) === wanted.toLowerCase(),
      card_id: ({ cardId }, wanted) => cardId === wanted,
      tx_id: ({ txId }, wanted) => txId === wanted,
      fail_reason: ({ failReason }, wanted) => failReason === wanted,
      payment_type: ({ paymentType }, wanted) => paymentType === wanted,
    },
    rowOf: service.orderForm === "current"
      ? orderJson
      : (order) => earlierForm(orderJson(order)),
  });
}

/** GET /api/external/users */
export function usersRoute(service: Service, request: Request): Response {
  return listRoute(service, request, {
    entity: "user",
    store: service.userStore,
    window: ["from", "to"],
    filters: {
      lkyc_status: ({ lkyc }, wanted) => lkyc === wanted,
      fkyc_status: ({ fkyc }, wanted) => fkyc === wanted,
      phone_country: ({ phoneCountry }, wanted) =>
        phoneCountry === wanted.toUpperCase(),
      kyc_country: ({ country }, wanted) => country === wanted.toUpperCase(),
    },
    rowOf: userJson,
  });
}

/** Most rows that a page has, and how many it has unless told. */
const [PAGE_ROWS, USUAL_ROWS] = [20, 10];

function listRoute<Row extends { readonly userId: string }>(
  service: Service,
  request: Request,
  { entity, store, window, filters, rowOf }: List<Row>,
): Response {
  const { injector } = service;
  const isOrders = entity === "order";
  const { searchParams } = new URL(request.url);
  const read = <Value>(name: string, as: (text: string) => Value) => {
    const text = searchParams.get(name);
    return text ? as(text) : undefined;
  };
  const count = (name: string, most: number) =>
    read(name, (text) => {
      const value = /^\d+$/.test(text) ? Number(text) : NaN;
      if (value <= most) return value;
      throw invalid(
        most > PAGE_ROWS
          ? `${name} must be a non-negative integer`
          : `${name} must be an integer from 0 to ${most}`,
      );
    });
  const list = (name: string) =>
    read(name, (text) => {
      const items = text.split(",").map((item) => item.trim());
      return new Set(items.filter((item) => item !== ""));
    });
  const time = (name: string) =>
    read(name, (text) => {
      const timeMs = readQueryTime(text);
      if (timeMs !== null) return timeMs;
      throw invalid(`${name} must be YYYY-MM-DDTHH:MM:SSZ`);
    });

  const limit = count("limit", PAGE_ROWS) ?? USUAL_ROWS;
  const offset = count("offset", Number.MAX_SAFE_INTEGER) ?? 0;
  const order = read("order_by", (text) => text.toLowerCase()) ?? "desc";
  if (order !== "asc" && order !== "desc") {
    throw invalid("order_by must be asc or desc");
  }
  const [afterMs, upToMs] = window.map(time);
  const ids = isOrders ? list("search_by") : undefined;
  const users = list("user_ids");
  const wanted = Object.entries(filters).flatMap(([name, passes]) =>
    read(name, (text) => [(row: Row) => passes(row, text)]) ?? []
  );
  if (users) wanted.push(({ userId }) => users.has(userId));
  const refused = refuseIds(service, [...ids ?? [], ...users ?? []]);
  if (refused !== null) return refused;

  const isShort = injector.draws("pageShort") && limit > 1;
  const most = isShort
    ? injector.stream("pageShort.size").int(1, limit - 1)
    : PAGE_ROWS;
  const stated = isOrders ? searchParams.get("cursor_id") ?? "" : "";
  const cursorId = stated.replace(AGAIN, "");
  if (!store.isCursor(cursorId)) throw invalid("cursor_id is unknown");
  const { rows, nextCursorId, total } = store.page({
    ...{ limit: Math.min(limit, most), offset, cursorId },
    ...{ ascending: order === "asc", filters: wanted },
    ...{ afterMs: afterMs ?? -Infinity, upToMs: upToMs ?? Infinity },
  }, ids && [...ids].flatMap((id) => store.find(id)));
  if (rows.length === most && most < limit) injector.counters.pagesShort++;
  const response = answer(200, {
    success: true,
    data: rows.map((row) => oddRow(injector, entity, rowOf(row))),
    ...(isOrders && service.orderForm === "current" && {
      next_cursor_id: cursorAfter(injector, stated, nextCursorId),
    }),
    ...statedTotal(injector, total),
  });
  if (isOrders) driftPages(service, rows.map((row) => store.idOf(row)));
  return response;
}

/** An order as the orders endpoint writes it. */
function orderJson(order: SandboxOrder): WireRow {
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

const NOT_IN_EARLIER_FORM =
  ("external_order_id tx_id processed_through card_brand fail_reason " +
    "payment_type additional_data address sc_input_data").split(" ");

/** The row of an order as the earlier form of the answer has it. */
function earlierForm(row: WireRow): WireRow {
  return Object.fromEntries(
    Object.entries(row).filter(([name]) => !NOT_IN_EARLIER_FORM.includes(name)),
  );
}

/** What a verified user may spend in all, in US cents. */
const LIMIT_CENTS = 1_000_000n;

/** A user as the users endpoint writes it. */
function userJson(user: SandboxUser): WireRow {
  const { phone, spentCents, goodsSpentCents } = user;
  const usd = (cents: bigint) =>
    withPlaces(decimalOfUnits(cents < 0n ? 0n : cents, 2), 2);
  const remaining = (spent: bigint) =>
    usd(canBuy(user) ? LIMIT_CENTS - spent : 0n);
  const time = (ms: number) => new Date(ms).toISOString();
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
      crypto_remaining: remaining(spentCents),
      crypto_spending: usd(spentCents),
      digital_goods_remaining: remaining(goodsSpentCents),
      digital_goods_spending: usd(goodsSpentCents),
    },
    linked_payment_methods: user.cards.length === 0 ? [] : [{
      method: "bank_card",
      cards: user.cards.map(({ brand, cardId, createdAtMs, lastDigits }) => ({
        ...{ brand, card_id: cardId, created_at: time(createdAtMs) },
        last_digits: lastDigits,
      })),
    }],
  };
}

// The faults of a list

/** A cursor that leads to its page once more, and how often it did. */
const AGAIN = /^again-(\d+)-/;

/** The cursor after a page, or a new one that leads to it once more. */
function cursorAfter(
  injector: FaultInjector,
  stated: string,
  next: string,
): string {
  const round = AGAIN.exec(stated)?.[1];
  const strikes = next !== "" && injector.draws("endlessCursor");
  // A walk that met an endless cursor repeats until the fault is switched off.
  const repeats = round !== undefined && injector.faults.endlessCursor > 0;
  if (!strikes && !repeats) return next;
  injector.counters.endlessCursors++;
  return `again-${Number(round ?? 0) + 1}-${stated.replace(AGAIN, "")}`;
}

/** The field `total` of an answer: right, wrong or missing. */
function statedTotal(
  injector: FaultInjector,
  total: number,
): { total?: number } {
  const isMissing = injector.strikes("totalMissing");
  const isWrong = injector.strikes("totalWrong", !isMissing);
  if (isMissing) return {};
  if (!isWrong) return { total };
  const off = injector.stream("totalWrong.off").pick([-7, -1, 1, 13]);
  return { total: Math.max(0, total + off) };
}

/** Adds or changes a row right after a page was read. */
function driftPages(service: Service, ids: readonly string[]): void {
  const { injector } = service;
  if (injector.strikes("pageInsert")) {
    const backMs = injector.stream("pageInsert.ms").int(0, 5_000);
    service.createOrder({}, service.now() - backMs);
  }
  if (injector.strikes("pageChange", ids.length > 0)) {
    const id = injector.stream("pageChange.pick").pick(ids);
    const order = service.orderStore.must(id);
    const [step] = nextSteps(order);
    if (step && order.status !== "success") service.advance(id, step);
    else service.amendOrder(id, {});
  }
}

/** The answer that refuses a search for one of these ids, or null. */
function refuseIds(
  { injector, refuses }: Service,
  ids: readonly string[],
): Response | null {
  const id = ids.find(refuses);
  if (id === undefined) return null;
  injector.counters.refusedIds++;
  return injector.ofId("refusedId.how", id).pick([
    () => answer(403, { message: "forbidden" }),
    () => answer(400, { message: "invalid request" }),
    () => answer(500, { message: "internal server error" }),
    () => html(403, "Request blocked"),
  ])();
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
    [
      "additional_data",
      JSON.parse("[".repeat(5_000) + '"deep"' + "]".repeat(5_000)),
    ],
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
    const isChange = entity === "order" && random.chance(0.6);
    fields.set(isChange ? "changed_at" : "created_at", random.pick(FAR_TIMES));
  }
  if (injector.strikesId("rowWithoutId", id)) {
    fields.set(`${entity}_id`, undefined);
  }
  return fields;
}

/** The row with the fields that its id's faults change. */
function oddRow(
  injector: FaultInjector,
  entity: "order" | "user",
  row: WireRow,
): WireRow {
  const out: Record<string, unknown> = { ...row };
  const id = String(row[`${entity}_id`]);
  for (const [field, value] of oddFieldsOf(injector, entity, id)) {
    // The earlier form of an order lacks some fields.
    if (!(field in row)) continue;
    const count = field === `${entity}_id`
      ? "rowsWithoutId"
      : field.endsWith("_at")
      ? "timesAhead"
      : "oddRows";
    injector.counters[count]++;
    out[field] = value;
  }
  return out;
}

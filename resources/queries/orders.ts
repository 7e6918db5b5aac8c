import {
  endParam,
  type Param,
  type Params,
  textParam,
  timeParam,
  wholeParam,
  wordParam,
} from "../../core/settings/params.ts";
import { defined } from "../../core/guards.ts";
import { isCalendarDate } from "../../core/time/service_time.ts";
import { UsageError } from "../../core/settings/errors.ts";
import type {
  Ledger,
  OrderPage,
  OrderQuery,
  OrderView,
  RecordedRelease,
} from "../../ledger/mod.ts";
import {
  ANOMALY_KINDS,
  ATTENTION_KINDS,
  matcher,
  orderMachine,
  type Pattern,
  readPurchaseHolder,
} from "../../ledger/for_resources.ts";
import { OUTCOME_WORDS } from "../wording/outcome.ts";
import { RELEASE, RELEASE_REASON } from "../wording/release.ts";
import {
  type FoundBy,
  type OrderJson,
  orderJson,
  type OrderTotalsJson,
  type PaidTwice,
  type ToldJson,
} from "../views/order_view.ts";
import { type Freshness, readFreshness } from "../../sync/mod.ts";
import {
  type ExplanationJson,
  explanationJson,
} from "../views/explanation_view.ts";

/** Rows of a list, and how to ask for those that follow. */
export interface Page<Row> {
  /** The rows, as `--json` prints each of them. */
  readonly items: readonly Row[];
  /** What to pass as `cursor` for the next page; null on the last one. */
  readonly next: string | null;
}

/** Which page of a list. */
export interface PageParams {
  /** `next` of the page before. @default {the first page} */
  readonly cursor?: string;
  /** At most this many rows, 1 to 1000. @default 100 */
  readonly limit?: number;
}

/** Most rows of one page. */
export const MOST_ROWS = 1000;

/** The parameters of a page. */
export const PAGE = {
  cursor: textParam("`next` of the page before"),
  limit: wholeParam(
    "At most this many rows, and 4 MB; `next` leads to the others",
    { min: 1, max: MOST_ROWS, usual: 100 },
  ),
} as const satisfies Params;

/** A parameter that says which rows come first. */
interface SortParam<Word extends string> extends Param<Word> {
  /** What stands for its value beside the flag. */
  readonly operand: string;
}

/** Which rows come first, by when they were created. */
export const SORT: SortParam<"newest" | "oldest"> = {
  ...wordParam("Which come first: newest (the default) or oldest", [
    "newest",
    "oldest",
  ]),
  operand: "<order>",
};

/** One way to choose rows of a list. */
export interface ListFilter<Value, Query extends object = object>
  extends Param<Value> {
  /** What stands for the value where the flag of a command is described. */
  readonly operand: string;
  /** Usual values, where others are taken too. @default {none} */
  readonly suggested?: readonly string[];
  /** What the ledger is asked for. */
  query(value: Value): Query;
}

/** A filter of a parameter. */
export function listFilter<Value, Query extends object>(
  param: Param<Value>,
  operand: string,
  query: (value: Value) => Query,
): ListFilter<Value, Query> {
  return { ...param, operand, query };
}

/**
 * The ways to choose rows of one list, by the name of the flag, of the parameter
 * of the API and of the field of the console's form; all that are given must
 * hold.
 */
export type ListFilters<Query extends object = object> = Readonly<
  Record<string, ListFilter<unknown, Query>>
>;

/** The values of filters; those that were left out are absent. */
export type FilterValues<Filters> = {
  readonly [Name in keyof Filters]?: Filters[Name] extends
    ListFilter<infer Value> ? Value : never;
};

/**
 * Reads the filters of a form or an address.
 *
 * @throws {UsageError} When one is wrong.
 */
export function readFilters<Filters extends ListFilters>(
  filters: Filters,
  text: (name: string) => string | undefined,
): FilterValues<Filters> {
  return Object.fromEntries(
    Object.entries(filters).flatMap(([name, { read }]) => {
      const given = text(name)?.trim() ?? "";
      return given === "" ? [] : [[name, read(name, given)]];
    }),
  ) as FilterValues<Filters>;
}

/** A day of a list, in UTC. */
export function dayParam(description: string): Param<string> {
  return {
    description: `${description} (UTC), for example 2026-11-20`,
    schema: { type: "string", format: "date" },
    read: (name, text) => {
      const day = text.trim();
      if (isCalendarDate(day)) return day;
      throw new UsageError(
        `Wrong ${name}: "${text}" is not a day; write it like 2026-11-20`,
      );
    },
  };
}

/** When the day after a day begins. */
export function dayAfter(day: string): string {
  return new Date(Date.parse(day) + DAY_MS).toISOString();
}

const DAY_MS = 86_400_000;

/** Those that were given, as one query of the ledger. */
export function queryOf<Query extends object>(
  filters: ListFilters<Query>,
  values: object,
): Partial<Query> {
  return Object.entries(filters).flatMap(([name, filter]) => {
    const value: unknown = Reflect.get(values, name);
    return value === undefined ? [] : [filter.query(value)];
  }).reduce<Partial<Query>>(
    (all, one) => ({ ...all, ...one, ...windowOfBoth(all, one) }),
    {},
  );
}

/** When rows were created, where a query says so. */
interface Window {
  readonly createdAfter?: string;
  readonly createdUpTo?: string;
}

/** What two windows share: a day, and from when or until when. */
function windowOfBoth(a: Window, b: Window): Window {
  const [from, to] = [
    [a.createdAfter, b.createdAfter].filter((time) => time !== undefined)
      .sort().at(-1),
    [a.createdUpTo, b.createdUpTo].filter((time) => time !== undefined)
      .sort().at(0),
  ];
  return defined({ createdAfter: from, createdUpTo: to });
}

/**
 * A moment just before another: a window holds its start and not its end, so
 * that days do not overlap.
 */
export function justBefore(time: string): string {
  return new Date(Date.parse(time) - 1).toISOString();
}

/**
 * Refuses a window that holds no moment: an empty list would look like an
 * answer.
 *
 * @throws {UsageError} When `to` is not after `from`.
 */
export function refuseEmptyWindow(
  { from, to }: { readonly from?: string; readonly to?: string },
  named: (filter: string) => string,
): void {
  if (from === undefined || to === undefined || from < to) return;
  throw new UsageError(
    `Wrong ${named("to")}: the window would end at ${to}, and begins at ` +
      `${from} (${named("from")}); give a ${named("to")} that is later`,
  );
}

/** The statuses that are documented; the service may use new ones. */
const STATUSES: readonly string[] = Object.keys(orderMachine.states);

/** A filter of the orders that have a value in a field of the query. */
function having<Field extends keyof OrderQuery>(
  field: Field,
  operand: string,
  param: Param<NonNullable<OrderQuery[Field]>>,
): ListFilter<NonNullable<OrderQuery[Field]>, OrderQuery> {
  return listFilter(param, operand, (value) => ({ [field]: value }));
}

/** What the ledger can compare. */
const AMOUNT = /^(?:0|[1-9]\d{0,8})(?:\.\d{1,6}0*)?$/;

const anyAnomaly = wordParam("", ANOMALY_KINDS);

/**
 * What chooses orders. A day in `to` is in it whole, and no day is in two
 * windows.
 */
export const ORDER_FILTERS = {
  status: having(
    "status",
    "<status>",
    textParam(
      `Only orders in this status: ${STATUSES.join(", ")}, or one that the ` +
        "service invented later",
    ),
  ),
  trust: having(
    "trust",
    "<trust>",
    wordParam("Only orders of this trust", ["claimed", "confirmed"]),
  ),
  user: having("userId", "<id>", textParam("Only orders of this user")),
  click: having("clickId", "<id>", textParam("Only orders of this click id")),
  asset: having(
    "commodity",
    "<code>",
    textParam("Only orders of this asset, for example USDC"),
  ),
  network: having(
    "network",
    "<name>",
    textParam("Only orders on this network, for example ethereum"),
  ),
  currency: having(
    "currency",
    "<code>",
    textParam("Only orders in this currency, for example EUR"),
  ),
  min: having(
    "amountFrom",
    "<amount>",
    amountParam("Only orders of this amount or more"),
  ),
  max: having(
    "amountTo",
    "<amount>",
    amountParam("Only orders of this amount or less"),
  ),
  reference: having(
    "reference",
    "<text>",
    textParam("Only orders of this reference of yours, or this external id"),
  ),
  day: listFilter(
    dayParam("Created on this day"),
    "<day>",
    (day): OrderQuery => ({
      createdAfter: justBefore(day),
      createdUpTo: justBefore(dayAfter(day)),
    }),
  ),
  from: listFilter(
    timeParam("Created at this time or later"),
    "<time>",
    (from): OrderQuery => ({ createdAfter: justBefore(from) }),
  ),
  to: listFilter(
    endParam("Created before this time"),
    "<time>",
    (to): OrderQuery => ({ createdUpTo: justBefore(to) }),
  ),
  anomaly: having("anomaly", "[kind]", {
    description: "Only orders with an anomaly of this kind, or with any: true",
    schema: { type: "string", enum: ["true", ...ANOMALY_KINDS] },
    read: (name, text) => text === "true" || anyAnomaly.read(name, text),
  }),
  attention: having(
    "attention",
    "<kind>",
    wordParam(
      "Only orders that wait for a person for this reason, for example stuck",
      ATTENTION_KINDS,
    ),
  ),
  outcome: having(
    "outcome",
    "<code>",
    wordParam(
      "Only orders with this outcome, for example session_matched",
      keysOf(OUTCOME_WORDS),
    ),
  ),
  release: having(
    "release",
    "<release>",
    wordParam("Only orders of this release", keysOf(RELEASE)),
  ),
  reason: having(
    "releaseReason",
    "<reason>",
    wordParam(
      "Only orders whose release has this reason, for example several_match",
      keysOf(RELEASE_REASON),
    ),
  ),
};

/** Name of a filter. */
type OrderFilterName = keyof typeof ORDER_FILTERS;

/** The names of all filters. */
export const ORDER_FILTER_NAMES = Object.keys(
  ORDER_FILTERS,
) as readonly OrderFilterName[];

/** The values of filters; those that were left out are absent. */
export type OrderFilters = FilterValues<typeof ORDER_FILTERS>;

/** The filters as a query of the ledger. */
export function orderQuery(filters: OrderFilters): OrderQuery {
  return queryOf<OrderQuery>(ORDER_FILTERS, filters);
}

/**
 * Refuses a status that is mistyped: an empty list would look like an answer.
 * One that is not documented is taken once an order has it.
 *
 * @throws {UsageError} When it is neither documented nor in the ledger.
 */
export async function checkStatus(
  ledger: Ledger,
  field: string,
  status: string | undefined,
): Promise<void> {
  if (status === undefined || STATUSES.includes(status)) return;
  const { orders } = await ledger.orders.page({ status, limit: 1 });
  if (orders.length > 0) return;
  throw new UsageError(
    `Wrong ${field}: "${status}" is not one of ${
      STATUSES.join(", ")
    }, and no ` +
      "order of this ledger has it",
  );
}

/** An amount that lists are chosen by. */
function amountParam(description: string): Param<string> {
  return {
    description: `${description}, in the order's currency, for example 100.50`,
    schema: { type: "string", pattern: AMOUNT.source },
    read: (name, text) => {
      if (AMOUNT.test(text)) return text;
      throw new UsageError(
        `Wrong ${name}: "${text}" is not an amount; write it like 100.50, with ` +
          "at most nine digits before the point and six behind",
      );
    },
  };
}

function keysOf<Key extends string>(
  table: Readonly<Record<Key, unknown>>,
): readonly Key[] {
  return Object.keys(table) as Key[];
}

/** One page of orders, and how far the list was looked through for it. */
interface OrdersPage extends Page<OrderJson> {
  /** As in `OrderPage`. */
  readonly searchedTo: OrderPage["searchedTo"];
}

/**
 * One page of `orders list --json`, newest first unless sorted otherwise.
 *
 * @throws {RangeError} When cursor or limit is wrong.
 */
export async function ordersPage(
  ledger: Ledger,
  params: OrderFilters & PageParams & Pick<OrderQuery, "sort">,
  nowMs: number,
): Promise<OrdersPage> {
  const { orders, next, searchedTo } = await ledger.orders.page(defined({
    ...orderQuery(params),
    stuckAtMs: nowMs,
    after: params.cursor,
    limit: params.limit,
    sort: params.sort,
  }));
  const items = orders.map((order) => orderJson(order, nowMs));
  return { items, next, searchedTo };
}

/**
 * The totals of what {@linkcode ordersPage} lists, where they do not take
 * seconds.
 */
export async function soonOrdersTotals(
  ledger: Ledger,
  filters: OrderFilters,
  nowMs: number,
): Promise<OrderTotalsJson | null> {
  const isMany = await ledger.orders.hasMany({
    ...orderQuery(filters),
    stuckAtMs: nowMs,
  });
  return isMany ? null : await ordersTotals(ledger, filters, nowMs);
}

/** The totals of what {@linkcode ordersPage} lists, on all its pages. */
export async function ordersTotals(
  ledger: Ledger,
  filters: OrderFilters,
  nowMs: number,
): Promise<OrderTotalsJson> {
  const totals = await ledger.orders.totals({
    ...orderQuery(filters),
    stuckAtMs: nowMs,
  });
  return {
    orders: totals.reduce((sum, { orders }) => sum + orders, 0),
    totals,
  };
}

/** Other orders that are named. */
const NAMED = 5;

const DAY_IN_MS = 86_400_000;

/**
 * Looks whether the purchase of an order was paid by another one as well.
 *
 * @param heldBy Another order that holds its purchase.
 * @returns Null of an order that the service does not show as a success.
 */
async function paidTwice(
  ledger: Ledger,
  order: OrderView,
  heldBy: string | null,
): Promise<PaidTwice | null> {
  if (order.confirmed?.status !== "success") return null;
  const { orderId, expected, userId, currencyAmount: amount } = order;
  const idsOf = (orders: readonly OrderView[]) =>
    orders.filter(({ orderId: id }) => id !== orderId)
      .map(({ orderId }) => orderId);
  const paid = {
    status: "success",
    trust: "confirmed",
    limit: NAMED + 1,
  } as const;
  const ofReference = expected?.reference === null ||
      expected?.reference === undefined
    ? []
    : idsOf(
      (await ledger.orders.page({
        ...paid,
        reference: expected.reference,
      })).orders,
    );
  const same = [
    ...new Set([...(heldBy === null ? [] : [heldBy]), ...ofReference]),
  ];
  if (same.length > 0) return { answer: "yes", orders: same.slice(0, NAMED) };
  const { createdAt, currency } = order;
  if (
    userId === null || amount === null || createdAt === null ||
    !PAID_AMOUNT.test(amount)
  ) return { answer: "no", orders: [] };
  const around = (ms: number) =>
    new Date(Date.parse(createdAt) + ms).toISOString();
  const { orders } = await ledger.orders.page({
    ...paid,
    userId,
    amountFrom: amount,
    amountTo: amount,
    ...(currency === null ? {} : { currency }),
    createdAfter: around(-DAY_IN_MS),
    createdUpTo: around(DAY_IN_MS),
  });
  const alike = idsOf(orders).slice(0, NAMED);
  return { answer: alike.length === 0 ? "no" : "perhaps", orders: alike };
}

/** What the ledger can compare. */
const PAID_AMOUNT = /^\d{1,9}(?:\.\d{1,6})?$/;

/** What a reference leads to: one order, none, or several. */
export type ResolvedOrder =
  | {
    readonly found: "one";
    readonly order: OrderView;
    readonly foundBy: FoundBy;
  }
  | { readonly found: "none" }
  | {
    readonly found: "several";
    readonly orderIds: readonly string[];
    readonly foundBy: FoundBy;
  };

/**
 * Finds the order that a reference names: an order id, external order id, your
 * own reference, or a click or session id. It means the orders that the service
 * has shown under it; those that only webhooks name count where it has shown
 * none.
 */
export async function resolveOrder(
  ledger: Ledger,
  reference: string,
): Promise<ResolvedOrder> {
  const { confirmed, claimed } = await ledger.orders.find(reference);
  const isConfirmed = confirmed.length > 0;
  const found = isConfirmed ? confirmed : claimed;
  const [order, ...others] = found;
  if (order === undefined) return { found: "none" };
  const foundBy: FoundBy = isConfirmed
    ? { trust: "confirmed", alsoClaimed: ids(claimed) }
    : { trust: "claimed", alsoClaimed: [] };
  return others.length === 0
    ? { found: "one", order, foundBy }
    : { found: "several", orderIds: ids(found), foundBy };
}

function ids(orders: readonly OrderView[]): string[] {
  return orders.map(({ orderId }) => orderId);
}

/** An order, and how fresh it is. */
export interface OrderDetailJson extends OrderJson {
  /** How fresh it is. */
  readonly freshness: Freshness;
  /** How it was found. */
  readonly foundBy: FoundBy;
  /** What a person did about it; null while nobody did. */
  readonly releasedByHand: RecordedRelease | null;
  /** Another order that holds the purchase which this one waits for, or null. */
  readonly heldBy: string | null;
  /** Whether it was paid twice; null where the service shows no success. */
  readonly paidTwice: PaidTwice | null;
  /** What each receiver was told of it. */
  readonly told: readonly ToldJson[];
}

/** How an order is found by its own id. */
export const BY_ORDER_ID: FoundBy = { trust: "confirmed", alsoClaimed: [] };

/** One order as `orders show --json` prints it. */
export async function orderDetail(
  ledger: Ledger,
  { order, foundBy }: {
    readonly order: OrderView;
    readonly foundBy: FoundBy;
  },
  nowMs: number,
): Promise<OrderDetailJson> {
  const { orderId } = order;
  const freshness = await readFreshness(
    ledger.driver,
    "order",
    orderId,
    nowMs,
  );
  const releasedByHand = await ledger.handRelease(orderId);
  const heldBy = await readPurchaseHolder(ledger.driver, orderId);
  const twice = await paidTwice(ledger, order, heldBy);
  const told = await toldOf(ledger, orderId);
  return {
    ...orderJson(order, nowMs),
    ...{ freshness, foundBy, releasedByHand, heldBy, told },
    paidTwice: twice,
  };
}

/** Transitions of one order that are looked at. */
const LATEST = 1000;

/** What each handler and each target was told of an order. */
async function toldOf(
  ledger: Ledger,
  orderId: string,
): Promise<readonly ToldJson[]> {
  const all = await ledger.subscriptions.list({ countUpTo: LATEST });
  if (all.length === 0) return [];
  const transitions = (await ledger.transitions({
    entity: "order",
    id: orderId,
    limit: LATEST,
  })).filter(({ live }) => live);
  const told = await Promise.all(all.map(async (one) => {
    const { name, on, target, behind } = one;
    const last = transitions.findLast(matcher(on as Pattern[]));
    if (last === undefined) return null;
    const [queued] = await ledger.subscriptions.queued(name, orderId);
    const { state, attempts = 0, error = null, dueAt = "" } = queued ?? {};
    return {
      name,
      url: target?.url ?? null,
      state: state ??
        (target !== null && target.offAt !== null
          ? "off" as const
          : behind > 0
          ? "behind" as const
          : "told" as const),
      transition: (queued?.transition ?? last).key.split(":").at(-1) ?? "",
      attempts,
      answer: error,
      nextAt: state === "retrying" && dueAt !== "" ? dueAt : null,
    };
  }));
  return told.filter((one) => one !== null);
}

/**
 * What became of an order, as `orders explain --json` prints it.
 *
 * @throws {RangeError} When it is not a time.
 */
export async function orderExplanation(
  ledger: Ledger,
  orderId: string,
  nowMs: number,
  time?: string,
): Promise<ExplanationJson | null> {
  const explanation = await ledger.explain(orderId, time);
  if (explanation === null) return null;
  if (time !== undefined) {
    return explanationJson(explanation, Date.parse(time), null);
  }
  const { driver } = ledger;
  const freshness = await readFreshness(driver, "order", orderId, nowMs);
  return explanationJson(explanation, nowMs, freshness);
}

/**
 * What was known of an order at a time, as `orders explain --as-of --json`
 * prints it.
 *
 * @throws {RangeError} When it is not a time.
 */
export async function orderAsOf(
  ledger: Ledger,
  orderId: string,
  time: string,
): Promise<OrderJson | null> {
  const then = await ledger.asOf(orderId, time);
  return then && orderJson(then, Date.parse(time));
}

import type { IncompleteReason } from "../../core/wire/completeness.ts";
import { type Api, refuseFaults } from "../http/api.ts";
import type {
  CallOptions,
  ExtraParameters,
  ListOptions,
  PageOptions,
} from "../http/call_options.ts";
import type { Order } from "../../core/wire/order.ts";
import {
  endOf,
  pageReader,
  refuseId,
  SETTLE_MS,
  walkedBy,
  whyExtraUnprovable,
  wrongItem,
  zeroLimit,
} from "./_lists.ts";
import type { OrdersQuery } from "../../core/wire/queries.ts";
import {
  type CheckedQuery,
  checkQuery,
  type Kind,
  PAGE_ROWS,
} from "./_query.ts";
import { type Page, rowsOn } from "../../core/wire/page.ts";
import { cursorPass, offsetPass } from "./passes.ts";
import { readOrderRow } from "../../core/wire/read_row.ts";
import { readServiceTime } from "../../core/time/service_time.ts";
import { PagedWalk, type Walk } from "./paged_walk.ts";

/** A walk over orders. */
export type OrderWalk = Walk<Order>;

/** Orders. */
export interface OrdersApi {
  /**
   * Reads one page of orders. A field that cannot be read is left out and
   * listed in `oddFields`; it never costs the other orders of the page.
   *
   * @throws {ValidationError} When the query breaks a rule.
   * @throws {OnrampError} When the call fails.
   */
  page(query?: OrdersQuery, options?: PageOptions): Promise<Page<Order>>;
  /**
   * Walks over all pages, by cursor; by offset where the query names one, or
   * where the service answers in its earlier form, which has no cursor.
   * A page holds 20 orders unless the query says otherwise.
   *
   * @throws {ValidationError} When the query breaks a rule, or its limit is 0.
   */
  list(query?: OrdersQuery, options?: ListOptions): OrderWalk;
  /**
   * Reads one order by order id, external order id or click id, in this order
   * of preference. Of several orders of a click id the latest is given: use
   * `list({ search_by })` to see them all.
   *
   * @returns The order, or null when the service has none.
   * @throws {ValidationError} When the id is empty or holds a comma.
   * @throws {ResponseError} `wrong_order` when the service answers with orders
   * that were not asked for, or that state no identifier.
   * @throws {OnrampError} When the call fails.
   */
  get(id: string, options?: CallOptions): Promise<Order | null>;
}

const action = "Cannot read orders";

/** Filters on what changes while walking: their pages shift under the reader. */
const changing = [
  "status",
  "card_id",
  "tx_id",
  "fail_reason",
  "payment_type",
] as const;

/** Parameters that a walk sets on each page, or is measured by. */
const walked = [
  "limit",
  "cursor_id",
  "offset",
  "order_by",
  "start_date",
  "end_date",
] as const;

/** Makes the orders part of a client. */
export function ordersApi(api: Api): OrdersApi {
  const page = pageReader<OrdersQuery, Order>(api, {
    operation: "orders.page",
    action,
    url: `${api.environment.baseUrl}/api/external/orders`,
    check: checkOrdersQuery,
    rows: { id: "order_id", read: readOrderRow },
  });

  function list(query: OrdersQuery = {}, options: ListOptions = {}): OrderWalk {
    const { prove = false, settleMs = SETTLE_MS, extra } = options;
    const { faults } = checkOrdersQuery(query, extra);
    refuseFaults(action, [
      ...faults,
      ...walkedBy(walked, extra),
      ...(query.limit === 0 ? [zeroLimit] : []),
    ]);
    const read = (one: OrdersQuery) => page(one, options);
    const wanted: OrdersQuery = { limit: PAGE_ROWS, ...query };
    const pass = query.offset === undefined
      ? (one: OrdersQuery) => cursorPass(read, one)
      : (one: OrdersQuery) => offsetPass(read, one);
    const order = query.order_by ?? (prove ? "asc" : undefined);
    return new PagedWalk<Order>({
      idOf: (one) => one.order_id,
      first: pass(
        order === undefined ? wanted : { ...wanted, order_by: order },
      ),
      second: prove
        ? pass({ ...wanted, order_by: order === "asc" ? "desc" : "asc" })
        : null,
      unprovable: whyUnprovable(query) ?? whyExtraUnprovable(extra),
      windowEndMs: endOf(query.end_date),
      settleMs,
    });
  }

  async function get(
    id: string,
    options: CallOptions = {},
  ): Promise<Order | null> {
    refuseId("search_by", id);
    const answer = await page({ search_by: id, limit: PAGE_ROWS }, options);
    const { data, requestId } = answer;
    // A row without identifier may be the order: that is not "none".
    if (rowsOn(answer) === 0) return null;
    const found = data.find((order) => order.order_id === id) ??
      data.find((order) => order.external_order_id === id) ??
      latest(data.filter((order) => order.click_id === id));
    if (found !== undefined) return found;
    throw wrongItem("order", "search", requestId);
  }

  return { page, list, get };
}

function latest(orders: readonly Order[]): Order | undefined {
  let best: Order | undefined;
  for (const order of orders) {
    if (best === undefined || createdMs(order) > createdMs(best)) best = order;
  }
  return best;
}

function createdMs(order: Order): number {
  return readServiceTime(order.created_at ?? "") ?? Number.NEGATIVE_INFINITY;
}

function whyUnprovable(query: OrdersQuery): IncompleteReason | null {
  const filter = changing.find((name) => query[name] !== undefined);
  if (filter !== undefined) {
    return { code: "filter_changes", filter };
  }
  return query.cursor_id || query.offset
    ? { code: "begun_in_the_middle" }
    : null;
}

/** What each parameter takes. */
const kinds: Readonly<Record<keyof OrdersQuery, Kind>> = {
  limit: "limit",
  cursor_id: "text",
  offset: "offset",
  search_by: "list",
  order_by: "order",
  start_date: "time",
  end_date: "time",
  status: "text",
  commodity: "dotted",
  user_ids: "list",
  card_id: "text",
  tx_id: "text",
  fail_reason: "text",
  payment_type: "text",
};

/** What is probably meant by names that the endpoint does not have. */
const meant = {
  order_id: "search_by",
  order_ids: "search_by",
  click_id: "search_by",
  external_order_id: "search_by",
  user_id: "user_ids",
  crypto: "commodity",
  from: "start_date",
  to: "end_date",
  cursor: "cursor_id",
  next_cursor_id: "cursor_id",
};

/**
 * Checks a query of orders against the table of parameters.
 *
 * @param query What to read.
 * @param extra Parameters that no rule is applied to.
 * @returns Every fault, and the parameters to send.
 * @throws {TypeError} When `query` is not an object.
 *
 * @example Find a mistyped parameter
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const { faults } = checkOrdersQuery({ limit: 50, commodity: "POL" });
 * assert.deepEqual(faults.map((fault) => fault.field), ["limit", "commodity"]);
 * ```
 */
export function checkOrdersQuery(
  query: OrdersQuery,
  extra: ExtraParameters = {},
): CheckedQuery {
  return checkQuery(
    // An empty cursor is the documented default: the first page.
    query.cursor_id === "" ? { ...query, cursor_id: undefined } : query,
    { kinds, range: ["start_date", "end_date"], meant },
    extra,
  );
}

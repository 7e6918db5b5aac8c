import type { IncompleteReason } from "../../core/wire/completeness.ts";
import { type Api, refuseFaults } from "../http/api.ts";
import type {
  CallOptions,
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
import { PAGE_ROWS } from "./_query.ts";
import { checkOrdersQuery } from "./orders_query.ts";
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

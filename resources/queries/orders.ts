import { defined } from "../../core/guards.ts";
import type { Ledger, OrderPage, OrderQuery } from "../../ledger/mod.ts";
import type { OrderTotalsJson } from "../views/order_totals.ts";
import { type OrderJson, orderJson } from "../views/order_view.ts";
import { type OrderFilters, orderQuery } from "./order_filters.ts";
import type { Page, PageParams } from "./page.ts";

/** One page of orders, and how far the list was looked through for it. */
export interface OrdersPage extends Page<OrderJson> {
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

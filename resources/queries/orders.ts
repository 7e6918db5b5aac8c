import { defined } from "../../core/guards.ts";
import type { Ledger } from "../../ledger/mod.ts";
import { type OrderJson, orderJson } from "../views/order_view.ts";
import { type OrderFilters, orderQuery } from "./order_filters.ts";
import type { Page, SortedPageParams } from "./page.ts";

/**
 * One page of `orders list --json`, newest first unless sorted otherwise.
 *
 * @param nowMs The time that `stuck` goes by, in ms since the epoch.
 * @throws {RangeError} When cursor or limit is wrong.
 */
export async function ordersPage(
  ledger: Ledger,
  params: OrderFilters & SortedPageParams,
  nowMs: number,
): Promise<Page<OrderJson>> {
  const { orders, next } = await ledger.orders.page(defined({
    ...orderQuery(params),
    stuckAtMs: nowMs,
    after: params.cursor,
    limit: params.limit,
    sort: params.sort,
  }));
  return { items: orders.map((order) => orderJson(order, nowMs)), next };
}

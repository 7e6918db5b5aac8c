import { defined } from "../../core/guards.ts";
import type { Ledger } from "../../ledger/mod.ts";
import { type OrderJson, orderJson } from "../views/order_view.ts";
import { type OrderFilters, orderQuery } from "./order_filters.ts";
import type { Page, PageParams } from "./page.ts";

/**
 * One page of `orders list --json`, newest first.
 *
 * @param nowMs The time that `stuck` goes by, in ms since the epoch.
 * @throws {RangeError} When cursor or limit is wrong.
 */
export async function ordersPage(
  ledger: Ledger,
  params: OrderFilters & PageParams,
  nowMs: number,
): Promise<Page<OrderJson>> {
  const { orders, next } = await ledger.orders.page(defined({
    ...orderQuery(params),
    stuckAtMs: nowMs,
    after: params.cursor,
    limit: params.limit,
  }));
  return { items: orders.map((order) => orderJson(order, nowMs)), next };
}

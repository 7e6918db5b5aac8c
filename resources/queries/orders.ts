import { defined } from "../../core/defined.ts";
import type { Ledger, OrderQuery } from "../../ledger/mod.ts";
import { type OrderJson, orderJson } from "../views/order_view.ts";
import { type OrderFilters, orderQuery } from "./order_filters.ts";
import type { Page, PageParams } from "./page.ts";

/** Which orders to list. */
export interface OrderListParams extends OrderFilters {
  /** Only orders of this trust. */
  readonly trust?: "claimed" | "confirmed";
}

/** The query of the ledger that lists these orders. */
export function orderListQuery(params: OrderListParams): OrderQuery {
  return defined({ ...orderQuery(params), trust: params.trust });
}

/**
 * One page of `orders list --json`, newest first.
 *
 * @param nowMs The time that `stuck` goes by, in ms since the epoch.
 * @throws {RangeError} When cursor or limit is wrong.
 */
export async function ordersPage(
  ledger: Ledger,
  params: OrderListParams & PageParams,
  nowMs: number,
): Promise<Page<OrderJson>> {
  const { orders, next } = await ledger.orders.page(defined({
    ...orderListQuery(params),
    stuckAtMs: nowMs,
    after: params.cursor,
    limit: params.limit,
  }));
  return { items: orders.map((order) => orderJson(order, nowMs)), next };
}

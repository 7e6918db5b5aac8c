import type { AssetTable } from "../../core/assets/environment.ts";
import { foldOrder } from "../explain/as_of.ts";
import { orderActivity } from "../orders/order_activity.ts";
import { orderState } from "../states/state_of_order.ts";
import type { Driver } from "../store/driver/driver.ts";
import type { OrderView } from "./orders.ts";
import { inContextAt } from "./contexts_at.ts";
import { type OrdersAtOptions, readOrdersAt } from "./orders_at.ts";

/** How to read orders as they were known. */
export interface OrdersAsOfOptions extends OrdersAtOptions {
  /** Asset table that gives the precision of amounts. */
  readonly assets: AssetTable;
}

/** Orders whose context is read at once. */
const PAGE = 200;

/** Folds every order from the events that were known, by order id. */
export async function* ordersAsOf(
  driver: Driver,
  options: OrdersAsOfOptions,
): AsyncGenerator<OrderView> {
  let page: OrderView[] = [];
  for await (const { orderId, facts } of readOrdersAt(driver, options)) {
    const fold = foldOrder(orderId, facts);
    if (fold.activity.firstAt === null) continue;
    page.push({ ...orderState(fold, options), activity: orderActivity(fold) });
    if (page.length < PAGE) continue;
    yield* await inContextAt(driver, page, options.asOf);
    page = [];
  }
  yield* await inContextAt(driver, page, options.asOf);
}

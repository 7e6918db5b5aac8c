import { type OrderInContext, orderOf } from "../attention/attention.ts";
import type { OrderState } from "../states/order_state.ts";
import type { Driver } from "../store/driver/driver.ts";
import { selectContextsAt } from "../store/tables/order_context.ts";
import type { AsOf } from "./orders_at.ts";

/**
 * Says of orders what was known beside their states: whether another order had
 * their purchase then, and whether anything was recorded to compare them with.
 *
 * @param orders States by what was known then.
 * @param asOf When.
 * @throws {LedgerError} When the database fails.
 */
export async function inContextAt<Order extends OrderState>(
  driver: Driver,
  orders: readonly Order[],
  asOf: AsOf,
): Promise<(Order & Required<Pick<OrderInContext, "context">>)[]> {
  const ids = orders.map(({ orderId }) => orderId);
  const [found] = await driver.batch([selectContextsAt(ids, asOf)], "read");
  const rows = new Map(
    found?.rows.map(([id, ...row]) => [id as string, row]),
  );
  return orders.map((order) => orderOf(order, rows.get(order.orderId) ?? []));
}

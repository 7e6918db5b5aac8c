import type { OrderFold } from "../orders/order_fold.ts";
import { orderRow } from "../projection/codec/rows.ts";
import { ORDERS, STATE_COLUMNS } from "../store/tables/orders.ts";

/**
 * What the row of an order holds of its state and of its fold, as SQL selects
 * the two.
 *
 * @param fold Folded facts of the order.
 */
export function storedOrder(
  fold: OrderFold,
): { readonly state: string; readonly fold: string } {
  const row = orderRow(fold, { place: 1 });
  const [state, activity, packed] = row.texts;
  const columns = STATE_COLUMNS.map((field) => row.columns[ORDERS.at[field]]);
  const said = `${JSON.stringify(columns)},${state}`;
  return { state: `[${said}]`, fold: `[${said},${activity},${packed}]` };
}

import { Columns, plain } from "../columns.ts";
import type { ResultSet, Statement } from "../../driver/driver.ts";

/** An order whose names were erased. */
export interface ErasedOrder {
  /** The order. */
  readonly orderId: string;
  /** What stands for the user; null for none. */
  readonly userId: string | null;
  /** What stands for the click id; null for none. */
  readonly clickId: string | null;
  /** When it was erased, UTC ISO 8601. */
  readonly erasedAt: string;
}

const ERASED = new Columns<ErasedOrder>({
  orderId: ["order_id", plain()],
  userId: ["user_id", plain()],
  clickId: ["click_id", plain()],
  erasedAt: ["erased_at", plain()],
});

/** Stores erased orders, each once. */
export function insertErasedOrders(orders: readonly ErasedOrder[]): Statement {
  return {
    sql: `INSERT INTO erased_orders (${ERASED.list()})
      SELECT ${ERASED.values} FROM json_each(?) WHERE true ON CONFLICT DO NOTHING`,
    args: [JSON.stringify(orders.map((order) => ERASED.write(order)))],
  };
}

/** Selects those of some orders that are erased. */
export function selectErasedOrders(orderIds: readonly string[]): Statement {
  return {
    sql: `SELECT ${ERASED.list()}
      FROM erased_orders WHERE order_id IN (SELECT value FROM json_each(?))`,
    args: [JSON.stringify(orderIds)],
  };
}

/** Reads the answer of {@linkcode selectErasedOrders}, by order id. */
export function erasedOrders(
  result: ResultSet | undefined,
): Map<string, ErasedOrder> {
  return new Map(
    result?.rows.map((row) => {
      const order = ERASED.read(row);
      return [order.orderId, order];
    }),
  );
}

/** Lists orders that erased users made later, each once. */
export function insertReturnedOrders(
  orderIds: readonly string[],
  at: string,
): Statement {
  return {
    sql: `INSERT INTO returned_orders (order_id, known_at)
      SELECT value, ?2 FROM json_each(?1) WHERE true ON CONFLICT DO NOTHING`,
    args: [JSON.stringify(orderIds), at],
  };
}

/** Selects the orders that erased users made later. */
export const selectReturnedOrders: Statement = {
  sql: "SELECT order_id, known_at FROM returned_orders ORDER BY known_at",
  args: [],
};

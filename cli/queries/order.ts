import {
  type Freshness,
  type Ledger,
  type OrderView,
  readFreshness,
} from "../../ledger/mod.ts";
import { type OrderJson, orderJson } from "../views/order_view.ts";

/** What a reference leads to: one order, none, or several. */
export type ResolvedOrder =
  | { readonly found: "one"; readonly order: OrderView }
  | { readonly found: "none" }
  | { readonly found: "several"; readonly orderIds: readonly string[] };

/**
 * Finds the order that a reference names: an order id, external order id, or a
 * click or session id that leads to one order.
 */
export async function resolveOrder(
  ledger: Ledger,
  reference: string,
): Promise<ResolvedOrder> {
  const found = await ledger.orders.find(reference);
  const [order, ...others] = found;
  if (order === undefined) return { found: "none" };
  return others.length === 0
    ? { found: "one", order }
    : { found: "several", orderIds: found.map(({ orderId }) => orderId) };
}

/** The stable `--json` shape of `orders show`. */
export interface OrderDetailJson extends OrderJson {
  /** How fresh it is. */
  readonly freshness: Freshness;
}

/** One order as `orders show --json` prints it. */
export async function orderDetail(
  ledger: Ledger,
  order: OrderView,
  nowMs: number,
): Promise<OrderDetailJson> {
  const { orderId } = order;
  const freshness = await readFreshness(
    ledger.driver,
    "order",
    orderId,
    nowMs,
  );
  return { ...orderJson(order), freshness };
}

import { type Freshness, readFreshness } from "../../sync/mod.ts";
import type { Ledger, OrderView, RecordedRelease } from "../../ledger/mod.ts";
import { readPurchaseHolder } from "../../ledger/for_resources.ts";
import type { FoundBy } from "../views/found_by.ts";
import { type OrderJson, orderJson } from "../views/order_view.ts";

/** What a reference leads to: one order, none, or several. */
export type ResolvedOrder =
  | {
    readonly found: "one";
    readonly order: OrderView;
    readonly foundBy: FoundBy;
  }
  | { readonly found: "none" }
  | {
    readonly found: "several";
    readonly orderIds: readonly string[];
    readonly foundBy: FoundBy;
  };

/**
 * Finds the order that a reference names: an order id, external order id, your
 * own reference, or a click or session id. It means the orders that the service
 * has shown under it; those that only webhooks name count where it has shown
 * none.
 */
export async function resolveOrder(
  ledger: Ledger,
  reference: string,
): Promise<ResolvedOrder> {
  const { confirmed, claimed } = await ledger.orders.find(reference);
  const isConfirmed = confirmed.length > 0;
  const found = isConfirmed ? confirmed : claimed;
  const [order, ...others] = found;
  if (order === undefined) return { found: "none" };
  const foundBy: FoundBy = isConfirmed
    ? { trust: "confirmed", alsoClaimed: ids(claimed) }
    : { trust: "claimed", alsoClaimed: [] };
  return others.length === 0
    ? { found: "one", order, foundBy }
    : { found: "several", orderIds: ids(found), foundBy };
}

function ids(orders: readonly OrderView[]): string[] {
  return orders.map(({ orderId }) => orderId);
}

/** An order, and how fresh it is. */
export interface OrderDetailJson extends OrderJson {
  /** How fresh it is. */
  readonly freshness: Freshness;
  /** How it was found. */
  readonly foundBy: FoundBy;
  /** What a person did about it; null while nobody did. */
  readonly releasedByHand: RecordedRelease | null;
  /** Another order that holds the purchase which this one waits for, or null. */
  readonly heldBy: string | null;
}

/** How an order is found by its own id. */
export const BY_ORDER_ID: FoundBy = { trust: "confirmed", alsoClaimed: [] };

/** One order as `orders show --json` prints it. */
export async function orderDetail(
  ledger: Ledger,
  { order, foundBy }: {
    readonly order: OrderView;
    readonly foundBy: FoundBy;
  },
  nowMs: number,
): Promise<OrderDetailJson> {
  const { orderId } = order;
  const freshness = await readFreshness(
    ledger.driver,
    "order",
    orderId,
    nowMs,
  );
  const releasedByHand = await ledger.handRelease(orderId);
  const heldBy = await readPurchaseHolder(ledger.driver, orderId);
  return {
    ...orderJson(order, nowMs),
    ...{ freshness, foundBy, releasedByHand, heldBy },
  };
}

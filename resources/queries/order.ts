import { paidTwice } from "./paid_twice.ts";
import { type Freshness, readFreshness } from "../../sync/mod.ts";
import type { Ledger, OrderView, RecordedRelease } from "../../ledger/mod.ts";
import {
  matcher,
  type Pattern,
  readPurchaseHolder,
} from "../../ledger/for_resources.ts";
import type { FoundBy } from "../views/found_by.ts";
import {
  type OrderJson,
  orderJson,
  type PaidTwice,
  type ToldJson,
} from "../views/order_view.ts";

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
  /** Whether it was paid twice; null where the service shows no success. */
  readonly paidTwice: PaidTwice | null;
  /** What each receiver was told of it. */
  readonly told: readonly ToldJson[];
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
  const twice = await paidTwice(ledger, order, heldBy);
  const told = await toldOf(ledger, orderId);
  return {
    ...orderJson(order, nowMs),
    ...{ freshness, foundBy, releasedByHand, heldBy, told },
    paidTwice: twice,
  };
}

/** Transitions of one order that are looked at. */
const LATEST = 1000;

/** What each handler and each target was told of an order. */
async function toldOf(
  ledger: Ledger,
  orderId: string,
): Promise<readonly ToldJson[]> {
  const all = await ledger.subscriptions.list({ countUpTo: LATEST });
  if (all.length === 0) return [];
  const transitions = (await ledger.transitions({
    entity: "order",
    id: orderId,
    limit: LATEST,
  })).filter(({ live }) => live);
  const told = await Promise.all(all.map(async (one) => {
    const { name, on, target, behind } = one;
    const last = transitions.findLast(matcher(on as Pattern[]));
    if (last === undefined) return null;
    const [queued] = await ledger.subscriptions.queued(name, orderId);
    const { state, attempts = 0, error = null, dueAt = "" } = queued ?? {};
    return {
      name,
      url: target?.url ?? null,
      state: state ??
        (target !== null && target.offAt !== null
          ? "off" as const
          : behind > 0
          ? "behind" as const
          : "told" as const),
      transition: (queued?.transition ?? last).key.split(":").at(-1) ?? "",
      attempts,
      answer: error,
      nextAt: state === "retrying" && dueAt !== "" ? dueAt : null,
    };
  }));
  return told.filter((one) => one !== null);
}

import type { Ledger, OrderView } from "../../ledger/mod.ts";
import type { PaidTwice } from "../views/order_view.ts";

/** Other orders that are named. */
const NAMED = 5;

const DAY_MS = 86_400_000;

/**
 * Looks whether the purchase of an order was paid by another one as well.
 *
 * @param heldBy Another order that holds its purchase.
 * @returns Null of an order that the service does not show as a success.
 */
export async function paidTwice(
  ledger: Ledger,
  order: OrderView,
  heldBy: string | null,
): Promise<PaidTwice | null> {
  if (order.confirmed?.status !== "success") return null;
  const { orderId, expected, userId, currencyAmount: amount } = order;
  const idsOf = (orders: readonly OrderView[]) =>
    orders.filter(({ orderId: id }) => id !== orderId)
      .map(({ orderId }) => orderId);
  const paid = {
    status: "success",
    trust: "confirmed",
    limit: NAMED + 1,
  } as const;
  const ofReference = expected?.reference === null ||
      expected?.reference === undefined
    ? []
    : idsOf(
      (await ledger.orders.page({
        ...paid,
        reference: expected.reference,
      })).orders,
    );
  const same = [
    ...new Set([...(heldBy === null ? [] : [heldBy]), ...ofReference]),
  ];
  if (same.length > 0) return { answer: "yes", orders: same.slice(0, NAMED) };
  const { createdAt, currency } = order;
  if (
    userId === null || amount === null || createdAt === null ||
    !AMOUNT.test(amount)
  ) return { answer: "no", orders: [] };
  const around = (ms: number) =>
    new Date(Date.parse(createdAt) + ms).toISOString();
  const { orders } = await ledger.orders.page({
    ...paid,
    userId,
    amountFrom: amount,
    amountTo: amount,
    ...(currency === null ? {} : { currency }),
    createdAfter: around(-DAY_MS),
    createdUpTo: around(DAY_MS),
  });
  const alike = idsOf(orders).slice(0, NAMED);
  return { answer: alike.length === 0 ? "no" : "perhaps", orders: alike };
}

/** What the ledger can compare. */
const AMOUNT = /^\d{1,9}(?:\.\d{1,6})?$/;

import type { Ledger } from "../../../ledger/mod.ts";
import { AmountSum, bookedAmount } from "../../../ledger/months/money.ts";
import { ordersPage } from "../../queries/orders.ts";
import type { Page } from "../../queries/page.ts";
import type { OrderJson } from "../../views/order_view.ts";

/** Orders of one page of the walk. */
const PAGE = 500;

/** Refunds that the service owes, of one currency. */
export interface RefundsDue {
  readonly orders: number;
  /** The exact sum; `unknown` where no order states an amount. */
  readonly sum: string;
}

/**
 * Refunds that are due of orders created in a span of time, by currency.
 *
 * @param window Its start and its end, UTC ISO 8601; the end is not in it.
 */
export async function refundsDue(
  ledger: Ledger,
  window: { readonly from: string; readonly to: string },
  nowMs: number,
): Promise<ReadonlyMap<string, RefundsDue>> {
  const sums = new Map<string, { sum: AmountSum; orders: number }>();
  let cursor: string | undefined;
  do {
    const { items, next }: Page<OrderJson> = await ordersPage(ledger, {
      ...window,
      attention: "refund_due",
      limit: PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    }, nowMs);
    for (const { currency, currencyAmount } of items) {
      const key = currency ?? "";
      const one = sums.get(key) ?? { sum: new AmountSum(), orders: 0 };
      one.orders++;
      one.sum.add(bookedAmount(currencyAmount), 1);
      sums.set(key, one);
    }
    cursor = next ?? undefined;
  } while (cursor !== undefined);
  return new Map(
    [...sums].map(([currency, { sum, orders }]) => [
      currency,
      { orders, sum: sum.known ?? "unknown" },
    ]),
  );
}

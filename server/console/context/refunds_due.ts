import type { Ledger } from "../../../ledger/mod.ts";
import { AmountSum } from "../../../ledger/for_resources.ts";
import { bookedAmount } from "../../../ledger/for_server.ts";
import { ordersPage } from "../../../resources/queries/orders.ts";
import type { Page } from "../../../resources/queries/page.ts";
import { CachedValue } from "./cached_value.ts";
import type { OrderJson } from "../../../resources/views/order_view.ts";

/** Orders of one page of the walk. */
const PAGE = 500;

/** Refunds that the service owes, of one currency. */
export interface RefundsDue {
  readonly orders: number;
  /** The exact sum; `unknown` where no order states an amount. */
  readonly sum: string;
}

/** By currency; empty where an order names none. */
export type RefundsByCurrency = ReadonlyMap<string, RefundsDue>;

/** Refunds are refreshed after this long, ms. */
const OLD_MS = 60_000;

/** The refunds that are due of the orders of months. */
export class RefundsOfMonths {
  readonly #ledger: Ledger;
  readonly #now: () => number;
  readonly #months = new Map<string, CachedValue<RefundsByCurrency>>();

  /** Looks for none until asked. */
  constructor(ledger: Ledger, now: () => number) {
    this.#ledger = ledger;
    this.#now = now;
  }

  /** Those of orders that were created in a month, in UTC. */
  of(month: string): Promise<RefundsByCurrency> {
    let refunds = this.#months.get(month);
    if (refunds === undefined) {
      const [year = 0, number = 1] = month.split("-").map(Number);
      const window = {
        from: new Date(Date.UTC(year, number - 1)).toISOString(),
        to: new Date(Date.UTC(year, number)).toISOString(),
      };
      const now = this.#now;
      refunds = new CachedValue(
        () => refundsDue(this.#ledger, window, now()),
        { now, oldMs: OLD_MS },
      );
      this.#months.set(month, refunds);
    }
    return refunds.value();
  }

  /** Waits for what is under way, so that the ledger can be closed. */
  async settled(): Promise<void> {
    for (const refunds of this.#months.values()) await refunds.settled();
  }
}

/** Refunds that are due of orders created in a span of time, by currency. */
async function refundsDue(
  ledger: Ledger,
  window: { readonly from: string; readonly to: string },
  nowMs: number,
): Promise<RefundsByCurrency> {
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

import type { OrderTotal } from "../../../ledger/types.ts";
import { counted, countText } from "../../../resources/views/text.ts";
import { type Markup, markup } from "../markup/markup.ts";
import { moneyText } from "../markup/money.ts";

/** How many orders a list has, and their sum by currency. */
export function orderTotals(totals: readonly OrderTotal[]): Markup {
  const orders = totals.reduce((sum, one) => sum + one.orders, 0);
  return markup`<p class="totals" id="totals"><strong>${
    countText(orders)
  }</strong> ${orders === 1 ? "order" : "orders"}${
    totals.map((one) => markup` <span class="total">${total(one)}</span>`)
  }</p>`;
}

function total(
  { currency, trust, orders, sum, notSummed }: OrderTotal,
): Markup {
  const isNone = notSummed === orders;
  return markup`<strong>${
    isNone ? "No amount" : moneyText(sum, currency)
  }</strong> <span class="soft">in ${counted(orders, "order")}${
    trust === "claimed" && ", claimed by webhooks alone"
  }${
    notSummed > 0 && !isNone &&
    `, ${counted(notSummed, "amount")} not in it`
  }</span>`;
}

/**
 * The place of a sum that is not known yet: a script puts it there.
 *
 * @param path Where it is asked for.
 */
export function totalsLater(path: string): Markup {
  return markup`<p class="totals" id="totals" data-later="${path}"><a href="${path}">Count and add up</a></p>`;
}

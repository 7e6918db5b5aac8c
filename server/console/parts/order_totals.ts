import type { OrderTotal } from "../../../ledger/types.ts";
import { totalText } from "../../../resources/views/order_totals.ts";
import { countText } from "../../../resources/views/text.ts";
import { type Markup, markup } from "../markup/markup.ts";
import { outsideText } from "../markup/outside.ts";

/** How many orders a list has, and their sum by currency. */
export function orderTotals(totals: readonly OrderTotal[]): Markup {
  const orders = totals.reduce((sum, one) => sum + one.orders, 0);
  return markup`<p class="totals" id="totals"><strong>${
    countText(orders)
  }</strong> ${orders === 1 ? "order" : "orders"}${
    totals.map((one) => markup` <span class="total">${total(one)}</span>`)
  }</p>`;
}

function total(one: OrderTotal): Markup {
  const { sum, of } = totalText(one);
  return markup`<strong>${
    outsideText(sum, 80)
  }</strong> <span class="soft">${of}</span>`;
}

/**
 * The place of a sum that is not known yet: a script puts it there.
 *
 * @param path Where it is asked for.
 */
export function totalsLater(path: string): Markup {
  return markup`<p class="totals" id="totals" data-later="${path}"><a href="${path}">Count and add up</a></p>`;
}

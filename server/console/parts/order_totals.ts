import type { OrderTotal } from "../../../ledger/types.ts";
import { totalText } from "../../../resources/views/order_totals.ts";
import { countText } from "../../../resources/views/text.ts";
import type { SoonTotals } from "../context/order_totals.ts";
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
 * The sum of a list as far as it is known: one that is worked out is put in its
 * place by a script, and that of very many orders is there when it is asked for.
 */
export function soonTotals(totals: SoonTotals, path: string): Markup {
  if (totals === "many") {
    return markup`<p class="totals" id="totals">Very many orders match, so they are not added up here. <a href="${path}">Count and add up all of them</a></p>`;
  }
  if (totals === "later") {
    return markup`<p class="totals" id="totals" data-later="${path}"><a href="${path}">Count and add up</a></p>`;
  }
  return orderTotals(totals);
}

import { ordersPage } from "../../../resources/queries/orders.ts";
import { ATTENTION } from "../../../resources/wording/attention.ts";
import type { PageContext } from "../context/page_context.ts";
import { type Markup, markup, section } from "../markup/markup.ts";
import { orderTable } from "../parts/order_table.ts";
import {
  COUNTED,
  type Waiting,
} from "../../../resources/health/waiting_counts.ts";
import type { PageParts } from "./layout.ts";

/** The newest orders that are listed. */
const NEWEST = 15;

/** The first page: what waits, and what is new. */
export async function homePage(
  { ledger, nowMs, waiting: counts }: PageContext,
): Promise<PageParts> {
  const waiting = await counts.value();
  const { items } = await ordersPage(ledger, { limit: NEWEST }, nowMs);
  return {
    title: "Overview",
    body: markup`<h1 class="hidden">Overview</h1>
${section("waits", "Waits for a person", tiles(waiting))}
${
      section(
        "newest",
        "Newest orders",
        markup`${orderTable("Orders by time", items, nowMs)}
<p><a href="/orders">All orders, by release and reason</a></p>`,
      )
    }`,
  };
}

function tiles(waiting: Waiting): Markup {
  if (waiting.length === 0) {
    return markup`<p>No order waits for a person.</p>`;
  }
  return markup`
    <div class="tiles">${
    waiting.map(({ kind, count }) =>
      markup`
        <a class="tile"
          href="/attention?kind=${kind}"><strong>${
        count > COUNTED ? `${COUNTED}+` : count
      }</strong> ${ATTENTION[kind]}</a>
      `
    )
  }</div>
    <p><a href="/attention">All that waits, the gravest first</a></p>
  `;
}

import { ATTENTION_KINDS } from "../../../ledger/internals.ts";
import type { AttentionKind, Ledger } from "../../../ledger/mod.ts";
import { ordersPage } from "../../queries/orders.ts";
import { ATTENTION } from "../../wording/attention.ts";
import type { PageContext } from "../console_parts.ts";
import { type Markup, markup } from "../markup/markup.ts";
import { section } from "../markup/lists.ts";
import { orderTable } from "../parts/order_table.ts";
import type { PageParts } from "./layout.ts";

/** Orders that wait for one reason are counted up to here. */
const COUNTED = 50;

/** The newest orders that are listed. */
const NEWEST = 15;

/** The first page: what waits, and what is new. */
export async function homePage(
  { ledger, nowMs }: PageContext,
): Promise<PageParts> {
  const waiting = await countWaiting(ledger, nowMs);
  const { items } = await ordersPage(ledger, { limit: NEWEST }, nowMs);
  return {
    title: "Overview",
    body: markup`<h1 class="hidden">Overview</h1>
${section("waits", "Waits for a person", tiles(waiting))}
${
      section(
        "newest",
        "Newest orders",
        orderTable("Newest orders", items, nowMs),
      )
    }`,
  };
}

/** How many orders wait, and for which reason. */
type Waiting = readonly {
  readonly kind: AttentionKind;
  readonly count: number;
}[];

async function countWaiting(ledger: Ledger, nowMs: number): Promise<Waiting> {
  const counts = await Promise.all(ATTENTION_KINDS.map(async (kind) => {
    const params = { attention: kind, limit: COUNTED + 1 };
    const { items } = await ordersPage(ledger, params, nowMs);
    return { kind, count: items.length };
  }));
  return counts.filter(({ count }) => count > 0);
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
      }</strong> ${ATTENTION[kind].what}</a>
      `
    )
  }</div>
    <p><a href="/attention">All that waits, the gravest first</a></p>
  `;
}

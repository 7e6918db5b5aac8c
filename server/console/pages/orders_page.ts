import {
  RELEASE_REASONS,
  RELEASES,
} from "../../../resources/queries/order_filters.ts";
import { ordersPage as listedOrders } from "../../../resources/queries/orders.ts";
import { RELEASE, RELEASE_REASON } from "../../../resources/wording/release.ts";
import type { PageContext } from "../context/page_context.ts";
import { type Markup, markup } from "../markup/markup.ts";
import { section } from "../markup/lists.ts";
import { orderTable } from "../parts/order_table.ts";
import type { PageParts } from "./layout.ts";

/** Orders of one page. */
const ORDERS = 50;

/** Which orders are listed, as the address says. */
export interface OrdersAddress {
  /** Only orders of this release. */
  readonly release?: string | undefined;
  /** Only orders whose release has this reason. */
  readonly reason?: string | undefined;
  /** Where the page before ended. */
  readonly after?: string | undefined;
}

/** The orders, newest first; by release and reason where these are chosen. */
export async function ordersPage(
  { ledger, nowMs }: PageContext,
  address: OrdersAddress,
): Promise<PageParts> {
  const release = RELEASES.find((one) => one === address.release);
  const reason = RELEASE_REASONS.find((one) => one === address.reason);
  const chosen = {
    ...(release && { release }),
    ...(reason && { reason }),
  };
  const { items, next } = await listedOrders(ledger, {
    ...chosen,
    limit: ORDERS,
    ...(address.after === undefined ? {} : { cursor: address.after }),
  }, nowMs);
  const onward = next !== null &&
    markup`<p><a class="button" href="/orders?${
      new URLSearchParams({ ...chosen, after: next }).toString()
    }">Earlier orders</a></p>`;
  return {
    title: "Orders",
    here: "orders",
    body: markup`<h1>Orders</h1>
<form class="row filter" action="/orders" method="get">
<label for="release">Release</label>
${choice("release", RELEASES, release, RELEASE)}
<label for="reason">Reason</label>
${choice("reason", RELEASE_REASONS, reason, RELEASE_REASON)}
<button>Show</button></form>
${
      section(
        "orders",
        "Newest first",
        markup`${orderTable("Orders", items, nowMs)}${onward}`,
      )
    }`,
  };
}

/** A choice of one word or of any. */
function choice<Word extends string>(
  name: string,
  words: readonly Word[],
  chosen: Word | undefined,
  meanings: Readonly<Record<Word, string>>,
): Markup {
  const options = words.map((word) =>
    markup`<option value="${word}" title="${meanings[word]}" ${
      word === chosen && "selected"
    }>${word.replaceAll("_", " ")}</option>`
  );
  return markup`<select id="${name}" name="${name}"><option value="">any</option>${options}</select>`;
}

import type { OrderJson } from "../../../resources/views/order_view.ts";
import { orderPath, userPath } from "../../../resources/views/page_paths.ts";
import {
  type Markup,
  markup,
  type SortedHead,
  table,
} from "../markup/markup.ts";
import { moneyText } from "../markup/money.ts";
import { brief, code, outside } from "../markup/outside.ts";
import { agoText, timeText } from "../markup/times.ts";
import type { Release } from "../../../ledger/mod.ts";

/** A user's id, which leads to their page. */
export function userLink(userId: string): Markup {
  return markup`<a href="${userPath(userId)}">${code(userId)}</a>`;
}

/** An order's id, which leads to its page. */
export function orderLink(orderId: string): Markup {
  return markup`<a href="${orderPath(orderId)}">${code(orderId)}</a>`;
}

/** Orders, one a line, each with its verdict. */
export function orderTable(
  label: string,
  orders: readonly OrderJson[],
  nowMs: number,
  sort: { readonly created?: SortedHead } = {},
): Markup {
  if (orders.length === 0) return markup`<p class="soft">None.</p>`;
  return table(
    label,
    [
      { title: "Order" },
      { title: "Release" },
      { title: "Status" },
      { title: "Amount", number: true },
      { title: "Asset" },
      { title: "Created (UTC)", sort: sort.created },
      { title: "Outcome", sentence: true },
    ],
    orders.map((order) => [
      markup`${orderLink(order.orderId)}${reference(order)}`,
      markup`${releaseBadge(order.release)}${byHand(order)}`,
      markup`<span class="word">${outside(order.status, 40)}</span>`,
      moneyText(order.currencyAmount, order.currency),
      asset(order),
      created(order.createdAt, nowMs),
      brief(order.outcome.message),
    ]),
  );
}

/** What it pays for, and where the asset goes. */
function asset({ commodity, network }: OrderJson): Markup {
  return markup`${outside(commodity, 20)}${
    network !== null &&
    markup`<br><span class="soft word">${outside(network, 30)}</span>`
  }`;
}

/** What a person did about it, which ends its release. */
function byHand({ byHand }: OrderJson): Markup {
  return byHand === null
    ? markup``
    : markup`<br><span class="soft">${byHand.outcome} by hand</span>`;
}

/** What the partner or the customer calls it. */
function reference({ expected, externalOrderId }: OrderJson): Markup {
  const text = expected?.reference ?? externalOrderId;
  return text === null
    ? markup``
    : markup`<br><span class="soft">${outside(text, 60)}</span>`;
}

function created(time: string | null, nowMs: number): Markup {
  return time === null
    ? markup`<span class="soft">not known</span>`
    : markup`<time datetime="${time}">${
      timeText(time).slice(0, 16)
    }</time> <span class="soft ago">${agoText(time, nowMs)}</span>`;
}

const LEVELS: Readonly<Record<Release, string>> = {
  yes: "good",
  no: "bad",
  wait: "warn",
  unchecked: "warn",
  settled: "good",
};

/** Whether the goods may be released, in one word. */
export function releaseBadge(release: Release): Markup {
  return markup`<span class="badge ${LEVELS[release]}">${release}</span>`;
}

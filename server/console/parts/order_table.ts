import {
  bodyPath,
  counted,
  countText,
  type Fact,
  orderPath,
  userPath,
} from "../../../resources/views/text.ts";
import {
  agoText,
  brief,
  type Child,
  code,
  copied,
  type FactRow,
  facts,
  type Markup,
  markup,
  moment,
  moneyText,
  NOTHING,
  outside,
  outsideText,
  prose,
  sentence,
  type SortedHead,
  table,
  timeText,
  when,
} from "../markup/markup.ts";
import {
  type ExplainedEventJson,
  type ExplanationJson,
  leftOutText,
} from "../../../resources/views/explanation_view.ts";
import {
  describeHappening,
  happenedAt,
  heardBy,
} from "../../../resources/wording/explanation.ts";
import type { OrderTotal } from "../../../ledger/types.ts";
import {
  type OrderJson,
  totalText,
} from "../../../resources/views/order_view.ts";
import type { SoonTotals } from "../context/page_context.ts";
import type { Release, StoredDelivery } from "../../../ledger/mod.ts";

/** What a fact is, as a page shows it. */
export function factText({ text, form }: Fact, nowMs: number): Child {
  if (text === null || text === "") return NOTHING;
  switch (form) {
    case "advice":
      return prose(text);
    case "name":
      return copied(text);
    case "orders":
      return text.split(", ").map((id) => markup`${orderLink(id)} `);
    case "sentence":
      return sentence(text);
    case "time":
      return when(text, nowMs);
    case "user":
      return userLink(text);
    default:
      return outside(text, 500);
  }
}

/** The latest events that are shown; the command shows all. */
const SHOWN = 200;

/** What happened to an order, in words, the oldest first. */
export function timeline(
  explained: Pick<ExplanationJson, "events" | "leftOut"> | null,
  nowMs: number,
): Markup {
  const { events, leftOut } = explained ?? { events: [], leftOut: 0 };
  if (events.length === 0) return markup`<p>No event names it.</p>`;
  const left = Math.max(0, events.length - SHOWN);
  return markup`${
    left > 0 && excluded(left, events.length)
  }<ol class="timeline">${
    events.slice(left).map((event) => item(event, nowMs))
  }</ol>${
    leftOut > 0 && markup`<p class="notice">${leftOutText(leftOut)}</p>`
  }`;
}

function excluded(left: number, all: number): Markup {
  return markup`<p class="notice">The first ${left} of ${all} events are left out;
<code>rampkit orders explain</code> shows them.</p>`;
}

function item(event: ExplainedEventJson, nowMs: number): Markup {
  const { content, effect, why, recordedAt } = event;
  const happened = happenedAt(content);
  return markup`<li class="${effect}">
<p class="said-what">${sentence(describeHappening(content))}</p>
<p class="soft">${happened !== null && markup`Happened ${moment(happened)}. `}
Heard ${when(recordedAt, nowMs)}
<span class="tag">${heardBy(content)}</span></p>
<p>${step(event)} <span class="soft">${sentence(why.message)}.</span></p>
${fields(event)}</li>`;
}

/** What the event did to the state, in a few words. */
function step({ effect, move }: ExplainedEventJson): string {
  if (effect !== "changed") return "It changes nothing.";
  return move === null
    ? "It adds to what is known."
    : `State: ${sentence(move.message.replaceAll("->", "\u2192"))}.`;
}

/** The fields that an event changed, and its bytes, folded away. */
function fields(
  { changes, kind, eventId, position }: ExplainedEventJson,
): Markup {
  const body = kind === "webhook" &&
    markup`<p><a href="${bodyPath(eventId)}">Its body as it came</a></p>`;
  if (changes.length === 0) return markup`${body}`;
  const rows = changes.map(({ field, before, after }): FactRow => [
    outsideText(field, 80),
    markup`${value(before)} <span aria-label="becomes">→</span> ${
      value(after)
    }`,
  ]);
  return markup`<details><summary>${
    counted(changes.length, "field")
  } (event ${position})</summary>${facts(rows)}${body}</details>`;
}

function value(text: string | null): Markup {
  return markup`<bdi>${outsideText(text ?? "none", 200)}</bdi>`;
}

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

/** Deliveries, one a line. */
export function deliveryTable(deliveries: readonly StoredDelivery[]): Markup {
  if (deliveries.length === 0) return markup`<p class="soft">None.</p>`;
  return table(
    "Deliveries",
    [
      { title: "Received" },
      { title: "Type" },
      { title: "Order" },
      { title: "User" },
      { title: "Bytes", number: true },
    ],
    deliveries.map(({ id, receivedAt, type, orderId, userId, ...one }) => [
      markup`<a href="${bodyPath(id)}">${moment(receivedAt)}</a>`,
      one.quarantined
        ? markup`<span class="badge warn">cannot be read</span>`
        : outside(type, 60),
      orderId === null || orderId === "" ? NOTHING : orderLink(orderId),
      userId === null || userId === "" ? NOTHING : userLink(userId),
      one.bytes ?? "erased",
    ]),
  );
}

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

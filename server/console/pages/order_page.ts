import { readNotes } from "../../../ledger/for_server.ts";
import { isPolled } from "../../../ledger/for_sync.ts";
import {
  LOOK_AT_CHAIN,
  READ_ORDER,
} from "../../../resources/operations/service_operations.ts";
import {
  BY_ORDER_ID,
  orderDetail,
  type OrderDetailJson,
  orderExplanation,
  ordersPage,
} from "../../../resources/queries/orders.ts";
import {
  amountText,
  type OrderFact,
  orderFacts,
  type OrderJson,
  type PaidTwice,
} from "../../../resources/views/order_view.ts";
import { attentionWords } from "../../../resources/wording/outcome.ts";
import { RELEASE, RELEASE_REASON } from "../../../resources/wording/release.ts";
import { explorerUrl, type PageContext } from "../context/page_context.ts";
import {
  brief,
  code,
  copied,
  type FactRow,
  facts,
  type Markup,
  markup,
  moneyText,
  NOTHING,
  outside,
  outsideText,
  prose,
  section,
  sentence,
} from "../markup/markup.ts";
import { handReleaseForm, notesPart, operationForm } from "../parts/notes.ts";
import { orderPath, userPath } from "../../../resources/views/text.ts";
import {
  factText,
  orderLink,
  releaseBadge,
  timeline,
} from "../parts/order_table.ts";
import type { PageParts } from "./layout.ts";

/** Other orders of the same user that are listed. */
const OTHERS = 5;

/**
 * An order: what is true, and why.
 *
 * @param reference Order id, or anything else that names one.
 * @returns An address where the reference leads elsewhere.
 */
export async function orderPage(
  context: PageContext,
  reference: string,
): Promise<PageParts | string> {
  const { ledger, nowMs } = context;
  const found = await ledger.orders.get(reference);
  if (found === null) return `/search?q=${encodeURIComponent(reference)}`;
  const order = await orderDetail(
    ledger,
    { order: found, foundBy: BY_ORDER_ID },
    nowMs,
  );
  const explained = await orderExplanation(ledger, order.orderId, nowMs);
  return {
    title: `Order ${outsideText(order.externalOrderId ?? order.orderId, 40)}`,
    body: markup`<p class="crumb">Order ${copied(order.orderId)} ${
      outside(order.externalOrderId, 60)
    }</p>
<h1 class="verdict">${brief(order.outcome.message)}</h1>
<div class="columns">
<div>
${section("now", "Now", now(context, order))}
${customerPart(order)}
${await noted(context, order)}
${anomalies(order)}
${
      section(
        "timeline",
        "What happened",
        timeline(explained, nowMs),
      )
    }
</div>
<div>
${section("look", "Look it up", await links(context, order))}
${names(context, order)}
${await others(context, order)}
</div>
</div>
${section("fields", "All fields", allFields(context, order))}`,
  };
}

function now(
  context: PageContext,
  order: OrderDetailJson,
): Markup {
  const twice = order.paidTwice;
  const paid = moneyText(order.currencyAmount, order.currency);
  const asset = amountText(order.cryptoAmount, order.commodity);
  return markup`<p class="money">${
    paid || "Amount unknown"
  } <span class="soft">for</span> ${
    outsideText(asset || "an unknown asset", 80)
  }${
    order.network !== null &&
    markup` <span class="soft">on</span> ${outsideText(order.network, 40)}`
  }</p>
<p class="release">Release ${releaseBadge(order.release)} <span class="soft">${
    RELEASE[order.release]
  }: ${RELEASE_REASON[order.releaseReason]}</span></p>
<p><span class="soft">Next:</span> ${prose(order.outcome.next)}</p>
${
    facts([
      ["Paid twice?", twice !== null && paidTwiceText(twice)],
      ...rowsOf(
        context,
        order,
        ({ name, text }) =>
          NOW.has(name) ||
          // The service writes "unknown" where it does not say how.
          (PAYMENT.has(name) && text !== "unknown"),
      ),
    ])
  }`;
}

function paidTwiceText({ answer, orders }: PaidTwice): Markup {
  const named = orders.map((id) => markup`${orderLink(id)} `);
  switch (answer) {
    case "yes":
      return markup`<strong class="bad">Yes</strong>: the same purchase was paid by ${named}`;
    case "perhaps":
      return markup`<strong class="warn">Perhaps</strong>: the same user paid the same amount within a day by ${named}`;
    case "no":
      return markup`No: no other order of this purchase is known`;
  }
}

/** What is said of the state below the release and the next step. */
const NOW: ReadonlySet<string> = new Set([
  ...["expected", "partnerFee", "serviceFee"],
  ...["told", "byHand", "heldBy", "status", "reason", "witness", "failReason"],
  "age",
  "freshness",
]);

/** How it was paid. */
const PAYMENT: ReadonlySet<string> = new Set(["cardBrand", "paymentType"]);

/** Some facts of an order, in the order of all. */
function rowsOf(
  { nowMs }: PageContext,
  order: OrderDetailJson,
  isWanted: (fact: OrderFact) => boolean,
): readonly FactRow[] {
  return orderFacts(order, nowMs, order).filter(isWanted)
    .map((fact) => [fact.label, factText(fact, nowMs)]);
}

function anomalies({ anomalies }: OrderDetailJson): Markup {
  if (anomalies.length === 0) return NOTHING;
  return section(
    "odd",
    "What is odd",
    anomalies.map((anomaly) =>
      markup`<div class="item"><p><strong>${
        anomaly.kind.replaceAll("_", " ")
      }</strong></p>
<p>${sentence(anomaly.message)}.</p></div>`
    ),
  );
}

/** Why the order waits, what people noted of it, and what they can record. */
async function noted(
  context: PageContext,
  order: OrderDetailJson,
): Promise<Markup> {
  const { ledger, supports } = context;
  const { orderId, attention: reasons } = order;
  const all = await readNotes(ledger.driver, "order", [orderId]);
  const notes = all.get(orderId) ?? [];
  if (notes.length === 0 && reasons.length === 0 && !supports) return NOTHING;
  const back = orderPath(orderId);
  const about = { entity: "order", entityId: orderId, reasons, back } as const;
  return section(
    "noted",
    reasons.length === 0 ? "Notes" : "Waits for a person",
    markup`${
      reasons.map((kind) =>
        markup`<p>${sentence(attentionWords(order, kind))}.</p>`
      )
    }${notesPart(context, about, notes)}${
      handReleaseForm(context, order, back)
    }`,
  );
}

function customerPart(order: OrderDetailJson): Markup {
  const about = order.externalOrderId ?? order.orderId;
  return section(
    "tell",
    "What to tell the customer",
    markup`<p class="tell" id="message">About your order ${
      outsideText(about, 60)
    }: ${order.outcome.customer}</p>
<button type="button" data-copy="message" hidden>Copy</button>`,
  );
}

async function links(
  context: PageContext,
  { orderId, network, txId }: OrderDetailJson,
): Promise<Markup> {
  const { explorers, dashboardUrl } = context;
  const url = explorerUrl(explorers, network, txId);
  const transaction = txId === null || txId === ""
    ? "No transaction is named"
    : url === null
    ? markup`Transaction ${code(txId)}, on a network without a known explorer`
    : markup`${linkOut(url, "The transaction at a public explorer")}<br>${
      copied(txId)
    }`;
  return markup`<ul class="plain"><li>${transaction}</li>
<li>${
    linkOut(dashboardUrl, "The service's dashboard")
  }</li></ul>${await askService(context, orderId)}${
    txId !== null && txId !== "" && askChain(context, orderId)
  }`;
}

/** The button that has the order read again, where a poller can do so. */
async function askService(
  context: PageContext,
  orderId: string,
): Promise<Markup> {
  const { operates, ledger } = context;
  if (!operates || !await isPolled(ledger.driver)) return NOTHING;
  return operationForm(
    context,
    {
      operation: READ_ORDER,
      given: { ref: orderId },
      back: orderPath(orderId),
    },
    markup`<button>Ask the service now</button>`,
  );
}

/** The button that asks the chain nodes, for readers who may operate. */
function askChain(context: PageContext, orderId: string): Markup {
  if (!context.operations.asksChain) return NOTHING;
  return operationForm(
    context,
    {
      operation: LOOK_AT_CHAIN,
      given: { ref: orderId },
      back: orderPath(orderId),
    },
    markup`<button>Ask your chain nodes now</button>`,
  );
}

/** A link to another site, which does not learn where it was followed. */
function linkOut(url: string, text: string): Markup {
  return markup`<a href="${url}" rel="noreferrer noopener" target="_blank">${text}</a>`;
}

function names(context: PageContext, order: OrderDetailJson): Markup {
  const known = rowsOf(context, order, ({ name }) => NAMES.has(name));
  const sessions = order.sessions.slice(0, 5).map((id) =>
    markup`${copied(id)} `
  );
  const rows = facts([...known, ["Sessions", sessions]]);
  return section(
    "names",
    "Other names",
    String(rows).includes("<dt>")
      ? rows
      : markup`<p class="soft">None is known.</p>`,
  );
}

/** What else an order is called. */
const NAMES: ReadonlySet<string> = new Set([
  ...["externalOrderId", "reference", "clickId", "userId", "address"],
]);

async function others(
  { ledger, nowMs }: PageContext,
  { userId, orderId }: OrderDetailJson,
): Promise<Markup> {
  if (userId === null) return NOTHING;
  const { items, next } = await ordersPage(
    ledger,
    { user: userId, limit: OTHERS + 1 },
    nowMs,
  );
  const rest = items.filter((one) => one.orderId !== orderId);
  if (rest.length === 0) return NOTHING;
  return section(
    "others",
    "Other orders of this user",
    markup`<ul class="plain">${rest.slice(0, OTHERS).map(other)}</ul>${
      next !== null &&
      markup`<p><a href="${userPath(userId)}">All orders of this user</a></p>`
    }`,
  );
}

function other(order: OrderJson): Markup {
  const amount = moneyText(order.currencyAmount, order.currency);
  return markup`<li class="item"><p class="head">${
    orderLink(order.orderId)
  } <span class="amount">${amount}</span></p>
<p class="soft">${brief(order.outcome.message)}</p></li>`;
}

function allFields(context: PageContext, order: OrderDetailJson): Markup {
  return markup`<details><summary>Everything that is known of it</summary>${
    facts(rowsOf(context, order, ({ part }) => part === "known"))
  }</details>`;
}

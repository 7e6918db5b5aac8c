import { ATTENTION_KINDS } from "../../../ledger/for_resources.ts";
import type { AttentionKind } from "../../../ledger/mod.ts";
import {
  isAcknowledged,
  type Note,
  readNotes,
} from "../../../ledger/for_server.ts";
import { attentionPage as waitingOrders } from "../../../resources/queries/find.ts";
import type { AttentionJson } from "../../../resources/views/attention_view.ts";
import { ATTENTION } from "../../../resources/wording/outcome.ts";
import { span } from "../../../resources/wording/phrases.ts";
import type { PageContext } from "../context/page_context.ts";
import {
  brief,
  type Markup,
  markup,
  moneyText,
  NOTHING,
  outside,
  prose,
  section,
} from "../markup/markup.ts";
import { handReleaseForm, notesPart } from "../parts/notes.ts";
import { orderLink, releaseBadge } from "../parts/order_table.ts";
import { otherAttention } from "../parts/other_attention.ts";
import type { PageParts } from "./layout.ts";

/** Orders of one page. */
const ORDERS = 100;

/** Which part of the queue is shown, as the address says. */
export interface AttentionAddress {
  /** Only orders that wait for this reason. */
  readonly kind?: string | undefined;
  /** Where the page before ended. */
  readonly after?: string | undefined;
}

/** What waits for a person: the gravest first, and the larger amounts first. */
export async function attentionPage(
  context: PageContext,
  { kind: wanted, after }: AttentionAddress,
): Promise<PageParts> {
  const { ledger, nowMs, supports } = context;
  const kind = ATTENTION_KINDS.find((one) => one === wanted);
  const { items, next } = await waitingOrders(ledger, {
    limit: ORDERS,
    ...(kind === undefined ? {} : { kind }),
    ...(after === undefined ? {} : { cursor: after }),
  }, nowMs);
  const noted = await readNotes(
    ledger.driver,
    "order",
    items.map(({ order }) => order.orderId),
  );
  const all = items.map((item): Waiting => ({
    item,
    notes: noted.get(item.order.orderId) ?? [],
  }));
  const { open = [], acknowledged = [] } = Object.groupBy(
    all,
    ({ item, notes }) =>
      isAcknowledged(item.order.attention, notes) ? "acknowledged" : "open",
  );
  const rest = kind === undefined && after === undefined
    ? await otherAttention(context)
    : NOTHING;
  return {
    title: "Attention",
    here: "attention",
    body: markup`<h1>What waits for a person</h1>
${filter(kind)}
${!supports && HOW_TO_SUPPORT}
${
      open.length > 0
        ? groups(context, open, kind)
        : markup`<section><p>${
          acknowledged.length === 0 ? NOBODY_WAITS : ALL_ACKNOWLEDGED
        }</p></section>`
    }
${
      acknowledged.length > 0 &&
      markup`<section aria-labelledby="acknowledged"><details>
<summary id="acknowledged">Somebody deals with it: ${acknowledged.length}</summary>${
        acknowledged.map((one) => waitingOrder(context, one, kind))
      }</details></section>`
    }
${next !== null && onward(kind, next)}
${rest}`,
  };
}

const NOBODY_WAITS = "No order waits for a person.";

const ALL_ACKNOWLEDGED = "Somebody deals with every order that waits here.";

const HOW_TO_SUPPORT =
  markup`<p class="soft">To take notes, sign in with a <code>support</code> token, and
to record what you did, with an <code>operate</code> token, or start the console with
<code>--operate</code>.</p>`;

function onward(kind: AttentionKind | undefined, after: string): Markup {
  const query = new URLSearchParams({ ...(kind && { kind }), after });
  return markup`<p><a class="button" href="/attention?${query.toString()}">The next ${ORDERS}</a></p>`;
}

/** An order that waits, and what people noted of it. */
interface Waiting {
  readonly item: AttentionJson;
  readonly notes: readonly Note[];
}

function filter(kind: AttentionKind | undefined): Markup {
  const options = ATTENTION_KINDS.map((one) =>
    markup`<option value="${one}" ${one === kind && "selected"}>${
      one.replaceAll("_", " ")
    }</option>`
  );
  return markup`<form class="row filter" action="/attention" method="get">
<label for="kind">Show</label>
<select id="kind" name="kind"><option value="">everything</option>${options}</select>
<button>Show</button></form>`;
}

function groups(
  context: PageContext,
  waiting: readonly Waiting[],
  only: AttentionKind | undefined,
): Markup[] {
  const byKind = Map.groupBy(
    waiting,
    ({ item }) => only ?? item.kinds[0]?.code ?? "stuck",
  );
  return [...byKind].map(([kind, group]) =>
    section(
      `kind-${kind}`,
      `${ATTENTION[kind]}: ${group.length}`,
      markup`${
        group.toSorted((a, b) => amountOf(b) - amountOf(a))
          .map((one) => waitingOrder(context, one, only))
      }`,
    )
  );
}

/** For the order on the page alone: currencies are not compared exactly. */
function amountOf({ item }: Waiting): number {
  return Number(item.order.currencyAmount ?? 0);
}

function waitingOrder(
  context: PageContext,
  { item, notes }: Waiting,
  only: AttentionKind | undefined,
): Markup {
  const { order, kinds, ageMs } = item;
  const reference = order.expected?.reference ?? order.externalOrderId;
  const amount = moneyText(order.currencyAmount, order.currency);
  const also = kinds.slice(1).map(({ code }) => code.replaceAll("_", " "));
  const back = only === undefined ? "/attention" : `/attention?kind=${only}`;
  return markup`<div class="item">
<p class="head">${orderLink(order.orderId)} ${
    reference !== null &&
    markup`<span class="soft">${outside(reference, 60)}</span>`
  } ${amount !== "" && markup`<span class="amount">${amount}</span>`} ${
    ageMs !== null && markup`<span class="soft">since ${span(ageMs)}</span>`
  } ${releaseBadge(order.release)}</p>
<p>${brief(order.outcome.message)} ${
    also.length > 0 &&
    markup`<span class="soft">Also: ${also.join(", ")}.</span>`
  }</p>
<p><span class="soft">Next:</span> ${prose(item.next)}</p>
${
    notesPart(context, {
      ...{ entity: "order", entityId: order.orderId, back },
      reasons: order.attention,
    }, notes)
  }${handReleaseForm(context, order, back)}</div>`;
}

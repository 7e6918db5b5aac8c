import { isAcknowledged, type Note } from "../../../ledger/attention/note.ts";
import { readNotes } from "../../../ledger/attention/notes.ts";
import { ATTENTION_KINDS } from "../../../ledger/internals.ts";
import type { AttentionKind } from "../../../ledger/mod.ts";
import { attentionPage as waitingOrders } from "../../queries/attention.ts";
import type { AttentionJson } from "../../views/attention_view.ts";
import { amountText } from "../../views/order_view.ts";
import { ATTENTION } from "../../wording/attention.ts";
import { span } from "../../wording/span.ts";
import type { PageContext } from "../console_parts.ts";
import { html, type Markup, NOTHING } from "../markup/html.ts";
import { section } from "../markup/lists.ts";
import { outsideText, sentence } from "../markup/outside.ts";
import { releaseBadge } from "../parts/badges.ts";
import { notesPart } from "../parts/notes.ts";
import { orderLink } from "../parts/order_table.ts";
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
  const { ledger, nowMs, operates } = context;
  const kind = ATTENTION_KINDS.find((one) => one === wanted);
  const { items, next } = await waitingOrders(ledger, {
    limit: ORDERS,
    ...(kind === undefined ? {} : { kind }),
    ...(after === undefined ? {} : { cursor: after }),
  }, nowMs);
  const ids = items.map(({ order }) => order.orderId);
  const notes = await readNotes(ledger.driver, "order", ids);
  const all = items.map((item): Waiting => {
    const own = notes.get(item.order.orderId) ?? [];
    return { item, notes: own, isDealtWith: isDealtWith(item, own) };
  });
  const open = all.filter(({ isDealtWith }) => !isDealtWith);
  const dealtWith = all.filter(({ isDealtWith }) => isDealtWith);
  const rest = kind === undefined && after === undefined
    ? await otherAttention(context)
    : NOTHING;
  return {
    title: "Attention",
    here: "attention",
    body: html`<h1>What waits for a person</h1>
${filter(kind)}
${
      !operates &&
      html`
        <p
          class="soft">To acknowledge and note, sign in with an <code>operate</code> token, or start the console with <code>--operate</code>.</p>
      `
    }
${
      open.length === 0 && dealtWith.length === 0
        ? html`
          <section>
            <p>No order waits for a person.</p>
          </section>
        `
        : open.length === 0
        ? html`
          <section>
            <p>Somebody deals with every order that waits here.</p>
          </section>
        `
        : groups(context, open, kind)
    }
${
      dealtWith.length > 0 &&
      html`
        <section aria-labelledby="dealt">
          <details><summary id="dealt">Acknowledged: ${dealtWith
            .length}</summary>${dealtWith.map((one) =>
              waitingOrder(context, one, kind)
            )}</details>
        </section>
      `
    }
${
      next !== null &&
      html`<p><a class="button" href="/attention?${
        new URLSearchParams({ ...(kind && { kind }), after: next }).toString()
      }">The next ${ORDERS}</a></p>`
    }
${rest}`,
  };
}

/** An order that waits, and whether somebody deals with it. */
interface Waiting {
  readonly item: AttentionJson;
  readonly notes: readonly Note[];
  readonly isDealtWith: boolean;
}

function isDealtWith(
  { kinds }: AttentionJson,
  notes: readonly Note[],
): boolean {
  return isAcknowledged(kinds.map(({ code }) => code), notes);
}

function filter(kind: AttentionKind | undefined): Markup {
  return html`<form class="row" action="/attention" method="get">
<label for="kind">Show</label> <select id="kind" name="kind"><option value="">everything</option>${
    ATTENTION_KINDS.map((one) =>
      html`
        <option value="${one}" ${one === kind && " selected"}>${one.replaceAll(
          "_",
          " ",
        )}</option>
      `
    )
  }</select> <button>Show</button></form><br>`;
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
      `${ATTENTION[kind].what}: ${group.length}`,
      html`<p><span class="soft">Next:</span> ${ATTENTION[kind].next}.</p>${
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
  const reference = order.asked?.reference ?? order.externalOrderId;
  return html`
    <div
      class="item"><p class="head">${orderLink(
        order.orderId,
      )}${reference !== null &&
        html`<bdi class="soft">${
          outsideText(reference, 60)
        }</bdi>`}<span class="amount">${outsideText(
          amountText(order.currencyAmount, order.currency),
          60,
        )}</span>${ageMs !== null &&
        html`<span class="soft">since ${span(ageMs)}</span>`}${releaseBadge(
          order.release,
        )}</p>
    <p>${sentence(order.verdict.message)}${kinds.length > 1 &&
      html`
        <span class="soft">Also: ${kinds.slice(1).map(({ code }) =>
          code.replaceAll("_", " ")
        ).join(", ")}.</span>
      `}</p>
    ${notesPart(context, {
      entity: "order",
      entityId: order.orderId,
      reasons: kinds.map(({ code }) => code),
      back: only === undefined ? "/attention" : `/attention?kind=${only}`,
    }, notes)}</div>
  `;
}

import {
  type Operation,
  paramsOf,
} from "../../../resources/operations/operation.ts";
import { mayDo } from "../access/access.ts";
import type { PageContext } from "../context/page_context.ts";
import {
  agoText,
  type Markup,
  markup,
  moment,
  moneyText,
  NOTHING,
  outside,
  outsideText,
} from "../markup/markup.ts";
import { isAcknowledged, type Note } from "../../../ledger/for_server.ts";
import { LONGEST_NOTE } from "../../../ledger/for_resources.ts";
import {
  RELEASE_BY_HAND,
  TAKE_NOTE,
} from "../../../resources/operations/order_operations.ts";
import type { OrderJson } from "../../../resources/views/order_view.ts";

/** What a form has done, and where it leads. */
interface OperationForm {
  /** What it has done, unless a button says otherwise. */
  readonly operation: Operation;
  /** Parameters that the page knows. */
  readonly given: Readonly<Record<string, string>>;
  /** The page to go back to. */
  readonly back: string;
  /** Class of the form. @default {none} */
  readonly style?: "row" | "note-form";
}

/** A form of a page; nothing for readers without permission. */
export function operationForm(
  context: Pick<PageContext, "supports" | "operates" | "formToken">,
  { operation, given, back, style }: OperationForm,
  body: Markup,
): Markup {
  if (!mayDo(context, operation)) return NOTHING;
  return markup`<form ${
    style !== undefined && markup`class="${style}"`
  } action="${pathOf(operation)}" method="post">
${hidden({ form: context.formToken, ...given, back })}
${body}</form>`;
}

/** A button of a form that has another operation done. */
export function operationButton(
  operation: Operation,
  title: string,
  style: "primary" | "grave" | "" = "",
): Markup {
  return markup`<button formaction="${
    pathOf(operation)
  }" class="${style}">${title}</button>`;
}

/** The field of a parameter, as long as the parameter may be. */
function formField(
  operation: Operation,
  name: string,
  { label, rows }: { readonly label: string; readonly rows?: number },
): Markup {
  const { schema } = paramsOf(operation)[name] ?? {};
  if (schema?.type === "boolean") {
    return markup`<label><input type="checkbox" name="${name}" value="true"> ${label}</label>`;
  }
  const longest = String(schema?.maxLength ?? 256);
  return markup`<label>${label} ${
    rows === undefined
      ? markup`<input name="${name}" maxlength="${longest}">`
      : markup`<textarea name="${name}" rows="${
        String(rows)
      }" maxlength="${longest}"></textarea>`
  }</label>`;
}

/** Fields that a form sends back as they are. */
function hidden(fields: Readonly<Record<string, string>>): Markup[] {
  return Object.entries(fields).map(([name, value]) =>
    markup`<input type="hidden" name="${name}" value="${value}">`
  );
}

function pathOf({ operationId }: Operation): string {
  return `/do/${operationId}`;
}

/** What notes are about. */
interface Noted {
  readonly entity: Note["entity"];
  readonly entityId: string;
  /** Why it waits. */
  readonly reasons: readonly string[];
  /** The page to go back to. */
  readonly back: string;
}

const ACTIONS: Readonly<Record<Note["action"], string>> = {
  note: "noted",
  acknowledge: "acknowledged it",
  reopen: "opened it again",
};

/** What was noted, the oldest first, and the form that adds to it. */
export function notesPart(
  context: PageContext,
  noted: Noted,
  notes: readonly Note[],
): Markup {
  const { nowMs } = context;
  const list = notes.length > 0 &&
    markup`<ul class="notes">${
      notes.map((note) => noteItem(note, nowMs))
    }</ul>`;
  const { entity, entityId, reasons, back } = noted;
  const deal = isAcknowledged(reasons, notes)
    ? markup`<button name="action" value="reopen">Open again</button>`
    : markup`<button name="action" value="acknowledge" class="primary">Acknowledge</button>`;
  if (!mayDo(context, TAKE_NOTE)) return markup`${list}`;
  const form = operationForm(
    context,
    {
      operation: TAKE_NOTE,
      given: { entity, id: entityId, reasons: reasons.join(" ") },
      back,
      style: "note-form",
    },
    markup`${formField(TAKE_NOTE, "text", { label: "Note", rows: 2 })}
<div class="row"><button name="action" value="note">Note</button> ${
      reasons.length > 0 && deal
    }</div>`,
  );
  return markup`${list}<details><summary>Note or acknowledge</summary>
${form}</details>`;
}

function noteItem(
  { author, action, text, notedAt }: Note,
  nowMs: number,
): Markup {
  return markup`<li><strong>${outsideText(author, 64)}</strong> ${
    ACTIONS[action]
  } <span class="soft">${moment(notedAt)} (${agoText(notedAt, nowMs)})</span>${
    text !== "" && markup`<br><bdi>${outsideText(text, LONGEST_NOTE)}</bdi>`
  }</li>`;
}

/** What the service shows of an order that a person can settle. */
const ENDS: readonly string[] = ["success", "failed", "cancelled"];

/** What is known of the order, and what each button records. */
function whatItDoes(order: OrderJson, settles: boolean): Markup {
  const { expected, byHand, confirmed } = order;
  const paid = moneyText(order.currencyAmount, order.currency);
  const asked = expected === null
    ? ""
    : moneyText(expected.currencyAmount, expected.currency);
  return markup`<p>The service shows ${
    outsideText(confirmed?.status ?? "no status", 40)
  }: ${paid || "an unknown amount"}${asked && markup`, asked for ${asked}`}, ${
    expected?.reference
      ? markup`reference ${outside(expected.reference, 60)}`
      : "no reference of yours"
  }.</p>
<ul>${
    settles &&
    markup`<li>I delivered it: nobody is told any more to ship it, and another
payment of the same reference waits.</li>
<li>I refunded it, or wrote it off: nobody is told any more to ship it. What its reference
holds stays as it is.</li>`
  }${
    byHand !== null &&
    markup`<li>It does not hold: the record is taken back. Where the order is
to be released, your handlers are told so, once.</li>`
  }</ul>`;
}

/** The form by which a person records what they did about an order, or takes it back. */
export function handReleaseForm(
  context: PageContext,
  order: OrderJson,
  back: string,
): Markup {
  const { orderId, byHand, facts } = order;
  if (!mayDo(context, RELEASE_BY_HAND)) return NOTHING;
  // Before, whoever is sure still has the command, which asks for a yes.
  const settles = byHand === null && ENDS.includes(facts.shown);
  if (!settles && byHand === null) return NOTHING;
  const form = operationForm(
    context,
    {
      operation: RELEASE_BY_HAND,
      given: { ref: orderId },
      back,
      style: "note-form",
    },
    markup`${whatItDoes(order, settles)}${
      formField(RELEASE_BY_HAND, "why", { label: "Why; name no customer" })
    }
${
      settles &&
      markup`${
        formField(RELEASE_BY_HAND, "for", {
          label: "Reference of what you delivered",
        })
      }
${
        formField(RELEASE_BY_HAND, "newReference", {
          label: "It is a new reference",
        })
      }
${
        formField(RELEASE_BY_HAND, "confirmed", {
          label: "I have seen what speaks against it",
        })
      }`
    }
<div class="row">${
      settles &&
      markup`<button name="outcome" value="delivered">I delivered it</button>
<button name="outcome" value="refunded">I refunded it</button>
<button name="outcome" value="written_off">I wrote it off</button>`
    }${
      byHand === null ? NOTHING : markup`
<button name="outcome" value="taken_back">It does not hold</button>`
    }</div>`,
  );
  return markup`<details><summary>Record what you did</summary>
${form}</details>`;
}

import { CASE_ACTIONS, LONGEST_NOTE } from "../../../ledger/for_resources.ts";
import type { AttentionKind, OrderCase } from "../../../ledger/mod.ts";
import { CHANGE_CASE } from "../../../resources/operations/case_operation.ts";
import type { CaseJson } from "../../../resources/views/case_view.ts";
import { CASE_BUTTONS, describeCase } from "../../../resources/wording/case.ts";
import { mayDo } from "../access/access.ts";
import type { PageContext } from "../context/page_context.ts";
import { type Markup, markup, NOTHING } from "../markup/markup.ts";
import { outsideText } from "../markup/outside.ts";
import { agoText, moment } from "../markup/times.ts";
import { formField, operationForm } from "./operation_form.ts";

/** An order whose case is shown. */
interface CaseOfPage {
  readonly orderId: string;
  /** State of its case. */
  readonly case: OrderCase | null;
  /** Why it waits, as the page shows it. */
  readonly attention: readonly AttentionKind[];
  /** The page to go back to. */
  readonly back: string;
}

/** State of the case of an order, in a few words; nothing without a case. */
export function caseState(found: OrderCase | null): Markup {
  return found === null
    ? NOTHING
    : markup`<p><span class="soft">Case:</span> ${
      outsideText(describeCase(found), 400)
    }</p>`;
}

/** What people did about an order, the oldest first, and the form to add to it. */
export function casePart(
  context: PageContext,
  order: CaseOfPage,
  history: CaseJson["history"],
): Markup {
  const { nowMs } = context;
  const list = history.length > 0 &&
    markup`<ul class="notes">${
      history.map(({ at, message }) =>
        markup`<li><bdi>${outsideText(message, LONGEST_NOTE + 400)}</bdi>
<span class="soft">${moment(at)} (${agoText(at, nowMs)})</span></li>`
      )
    }</ul>`;
  return markup`${list}${caseForm(context, order)}`;
}

function caseForm(
  context: PageContext,
  { orderId, case: found, attention, back }: CaseOfPage,
): Markup {
  if (!mayDo(context, CHANGE_CASE)) return NOTHING;
  const isClosed = found !== null && found.state !== "open";
  const actions = CASE_ACTIONS.filter((one) => one !== "reopened" || isClosed);
  const form = operationForm(
    context,
    {
      operation: CHANGE_CASE,
      given: { ref: orderId, seen: attention.join(",") },
      back,
      style: "note-form",
    },
    markup`${formField(CHANGE_CASE, "note", { label: "Note", rows: 2 })}
${
      formField(CHANGE_CASE, "reference", {
        label: "Reference of the refund, or of what you delivered",
      })
    }
<div class="row">${
      actions.map((one) =>
        markup`<button name="change" value="${one}">${
          CASE_BUTTONS[one]
        }</button> `
      )
    }</div>`,
  );
  return markup`<details><summary>Note, or record what you did</summary>
${form}</details>`;
}

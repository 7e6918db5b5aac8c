import { CASE_ACTIONS, LONGEST_NOTE } from "../../../ledger/for_resources.ts";
import type { AttentionKind, OrderCase } from "../../../ledger/mod.ts";
import type { CaseJson } from "../../../resources/views/case_view.ts";
import { CASE_BUTTONS, describeCase } from "../../../resources/wording/case.ts";
import type { PageContext } from "../context/page_context.ts";
import { type Markup, markup, NOTHING } from "../markup/markup.ts";
import { outsideText } from "../markup/outside.ts";
import { agoText, moment } from "../markup/times.ts";
import { hidden } from "./notes.ts";

/** An order whose case is shown. */
interface CaseOfPage {
  readonly orderId: string;
  /** How its case stands. */
  readonly case: OrderCase | null;
  /** Why it waits, as the page shows it. */
  readonly attention: readonly AttentionKind[];
  /** The page to go back to. */
  readonly back: string;
}

/** How the case of an order stands, in a few words; nothing where it has none. */
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
  { supports, formToken }: PageContext,
  { orderId, case: found, attention, back }: CaseOfPage,
): Markup {
  if (!supports) return NOTHING;
  const isClosed = found !== null && found.state !== "open";
  const actions = CASE_ACTIONS.filter((one) => one !== "reopened" || isClosed);
  return markup`<details><summary>Note, or record what you did</summary>
<form class="note-form" action="/case" method="post">
${hidden({ form: formToken, ref: orderId, seen: attention.join(","), back })}
<label>Note <textarea name="note" rows="2" maxlength="${LONGEST_NOTE}"></textarea></label>
<label>Reference of the refund, or of what you delivered <input name="reference" maxlength="256"></label>
<div class="row">${
    actions.map((one) =>
      markup`<button name="change" value="${one}">${
        CASE_BUTTONS[one]
      }</button> `
    )
  }</div>
</form></details>`;
}

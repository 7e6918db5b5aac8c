import type { RecordedRelease } from "../../../ledger/mod.ts";
import { describeHandRelease } from "../../../resources/wording/release.ts";
import type { PageContext } from "../context/page_context.ts";
import { type Markup, markup, NOTHING } from "../markup/markup.ts";
import { outsideText } from "../markup/outside.ts";
import { hidden } from "./notes.ts";

/** Longest reason, in characters. */
const LONGEST_WHY = 1000;

/** What a person did about an order, or the form that records it. */
export function releaseForm(
  { operates, formToken }: PageContext,
  orderId: string,
  recorded: RecordedRelease | null,
): Markup {
  if (recorded !== null) {
    return markup`<p><span class="soft">By hand:</span> <bdi>${
      outsideText(describeHandRelease(recorded), 2 * LONGEST_WHY)
    }</bdi></p>`;
  }
  if (!operates) return NOTHING;
  return markup`<details><summary>Release by hand</summary>
<form class="note-form" action="/released" method="post">
${hidden({ form: formToken, id: orderId })}
<label>Why <textarea name="why" rows="2" maxlength="${LONGEST_WHY}" required></textarea></label>
<label>Reference that was delivered, where the order matches none <input name="reference" maxlength="256"></label>
<div class="row"><button name="outcome" value="delivered">I delivered it</button> <button name="outcome" value="refunded">I refunded it</button></div>
</form></details>`;
}

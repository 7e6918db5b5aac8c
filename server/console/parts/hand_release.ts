import { RELEASE_BY_HAND } from "../../../resources/operations/order_operations.ts";
import type { OrderJson } from "../../../resources/views/order_view.ts";
import { mayDo } from "../access/access.ts";
import type { PageContext } from "../context/page_context.ts";
import { type Markup, markup, NOTHING } from "../markup/markup.ts";
import { formField, operationForm } from "./operation_form.ts";

/** The form by which a person records what they did about an order, or takes it back. */
export function handReleaseForm(
  context: PageContext,
  { orderId, byHand }: Pick<OrderJson, "orderId" | "byHand">,
  back: string,
): Markup {
  if (!mayDo(context, RELEASE_BY_HAND)) return NOTHING;
  const form = operationForm(
    context,
    {
      operation: RELEASE_BY_HAND,
      given: { ref: orderId },
      back,
      style: "note-form",
    },
    markup`${
      formField(RELEASE_BY_HAND, "why", { label: "Why; name no customer" })
    }
${
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
    }
<div class="row"><button name="outcome" value="delivered">I delivered it</button>
<button name="outcome" value="refunded">I refunded it</button>
<button name="outcome" value="written_off">I wrote it off</button>${
      byHand === null ? NOTHING : markup`
<button name="outcome" value="taken_back">It does not hold</button>`
    }</div>`,
  );
  return markup`<details><summary>Record what you did</summary>
${form}</details>`;
}

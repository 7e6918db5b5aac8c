import { RELEASE_BY_HAND } from "../../../resources/operations/order_operations.ts";
import type { OrderJson } from "../../../resources/views/order_view.ts";
import { mayDo } from "../access/access.ts";
import type { PageContext } from "../context/page_context.ts";
import { type Markup, markup, NOTHING } from "../markup/markup.ts";
import { formField, operationForm } from "./operation_form.ts";

/** The form by which a person records that they delivered or refunded an order. */
export function handReleaseForm(
  context: PageContext,
  { orderId, byHand }: Pick<OrderJson, "orderId" | "byHand">,
  back: string,
): Markup {
  if (byHand !== null || !mayDo(context, RELEASE_BY_HAND)) return NOTHING;
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
<div class="row"><button name="outcome" value="delivered">I delivered it</button>
<button name="outcome" value="refunded">I refunded it</button></div>`,
  );
  return markup`<details><summary>Record what you did</summary>
${form}</details>`;
}

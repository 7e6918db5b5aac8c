import { RELEASE_BY_HAND } from "../../../resources/operations/order_operations.ts";
import type { OrderJson } from "../../../resources/views/order_view.ts";
import { mayDo } from "../access/access.ts";
import type { PageContext } from "../context/page_context.ts";
import { type Markup, markup, NOTHING } from "../markup/markup.ts";
import { moneyText } from "../markup/money.ts";
import { outside, outsideText } from "../markup/outside.ts";
import { formField, operationForm } from "./operation_form.ts";

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

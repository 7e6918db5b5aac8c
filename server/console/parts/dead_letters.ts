import type {
  QueuedTransition,
  SubscriptionStatus,
} from "../../../ledger/mod.ts";
import {
  DROP,
  RETRY,
} from "../../../resources/operations/subscription_operations.ts";
import { counted } from "../../../resources/views/text.ts";
import type { PageContext } from "../context/page_context.ts";
import { type Markup, markup, NOTHING } from "../markup/markup.ts";
import { outside, outsideText } from "../markup/outside.ts";
import { when } from "../markup/times.ts";
import { operationButton, operationForm } from "./operation_form.ts";
import { orderLink, userLink } from "./order_table.ts";

/** Most that are listed of one subscription. */
const LISTED = 10;

/** What a form can send back. */
const LONGEST_KEY = 2000;

/**
 * The dead letters of one subscription, with buttons for readers who may
 * operate.
 */
export async function deadLetters(
  context: PageContext,
  { name, dead }: SubscriptionStatus,
  back: string,
): Promise<Markup> {
  const { ledger, operates } = context;
  const listed = await ledger.subscriptions.deadLetters(name, LISTED);
  return markup`<p class="head"><strong>${outsideText(name, 100)}</strong> ${
    counted(dead, "dead letter")
  }</p>
<ul class="letters">${
    listed.map((one) => letter(context, { name, back }, one))
  }</ul>
${
    dead > listed.length &&
    markup`<p class="soft">${
      dead - listed.length
    } more: <code>rampkit subscriptions list</code> names them.</p>`
  }${
    operates
      ? operationForm(
        context,
        {
          operation: RETRY,
          given: { subscription: name },
          back,
          style: "row",
        },
        markup`<button class="primary">${
          dead === 1 ? "Send it again" : `Send all ${dead} again`
        }</button> <span class="soft">A running <code>serve</code> sends them.</span>`,
      )
      : markup`<pre class="command" tabindex="0">rampkit subscriptions retry ${
        outsideText(name, 100)
      }</pre>`
  }`;
}

function letter(
  context: PageContext,
  { name, back }: { readonly name: string; readonly back: string },
  { transition, attempts, error }: QueuedTransition,
): Markup {
  const { entity, id, machine, trust, status, key, recordedAt } = transition;
  const what = machine === "order" ? "" : `${machine} `;
  return markup`<li><p class="head">${
    entity === "order" ? orderLink(id) : userLink(id)
  } <span class="tag">${outsideText(`${what}${status}`, 60)}, ${trust}</span>
<span class="soft">of ${when(recordedAt, context.nowMs)}, tried ${
    counted(attempts, "time")
  }</span></p>
${error !== null && markup`<p>${outside(error)}</p>`}${
    key.length <= LONGEST_KEY
      ? operationForm(
        context,
        {
          operation: RETRY,
          given: { subscription: name, key },
          back,
          style: "row",
        },
        markup`<button>Send again</button>
<details><summary>Drop</summary><p>Your program then never receives it.
${operationButton(DROP, "Drop it for good", "grave")}</p></details>`,
      )
      : NOTHING
  }</li>`;
}

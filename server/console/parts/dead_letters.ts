import type {
  QueuedTransition,
  SubscriptionStatus,
} from "../../../ledger/mod.ts";
import { counted } from "../../../resources/views/text.ts";
import type { PageContext } from "../context/page_context.ts";
import { type Markup, markup, NOTHING } from "../markup/markup.ts";
import { outside, outsideText } from "../markup/outside.ts";
import { when } from "../markup/times.ts";
import { hidden } from "./notes.ts";
import { orderLink, userLink } from "./order_table.ts";

/** Of one subscription that many are listed. */
const LISTED = 10;

/** What a form can send back. */
const LONGEST_KEY = 2000;

/** The dead letters of one subscription, with buttons for who may operate. */
export async function deadLetters(
  context: PageContext,
  { name, dead }: SubscriptionStatus,
): Promise<Markup> {
  const { ledger, operates } = context;
  const listed = await ledger.subscriptions.deadLetters(name, LISTED);
  return markup`<p class="head"><strong>${outsideText(name, 100)}</strong> ${
    counted(dead, "dead letter")
  }</p>
<ul class="letters">${listed.map((one) => letter(context, name, one))}</ul>
${
    dead > listed.length &&
    markup`<p class="soft">${
      dead - listed.length
    } more: <code>rampkit subscriptions list</code> names them.</p>`
  }${
    operates
      ? form(
        context,
        { subscription: name },
        markup`<button name="action" value="retry" class="primary">${
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
  subscription: string,
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
    context.operates && key.length <= LONGEST_KEY
      ? form(
        context,
        { subscription, key },
        markup`<button name="action" value="retry">Send again</button>
<details><summary>Drop</summary><p>Your program is then never told of it.
<button name="action" value="drop" class="grave">Drop it for good</button></p></details>`,
      )
      : NOTHING
  }</li>`;
}

function form(
  { formToken }: PageContext,
  fields: Readonly<Record<string, string>>,
  buttons: Markup,
): Markup {
  return markup`<form class="row" action="/dead-letters" method="post">${
    hidden({ form: formToken, ...fields })
  }${buttons}</form>`;
}

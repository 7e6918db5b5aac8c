import { lookAtReceivers } from "../../../resources/health/stored_health.ts";
import type { Finding } from "../../../resources/health/finding.ts";
import {
  counted,
  operands,
  targetPath,
} from "../../../resources/views/text.ts";
import {
  RESUME,
  RETRY,
  STOP,
} from "../../../resources/operations/subscription_operations.ts";
import type {
  QueuedTransition,
  SubscriptionStatus,
} from "../../../ledger/mod.ts";
import type { PageContext } from "../context/page_context.ts";
import { styleOf } from "../health/health_bar.ts";
import {
  code,
  facts,
  type Markup,
  markup,
  NOTHING,
  outside,
  outsideText,
  prose,
  section,
  table,
  when,
} from "../markup/markup.ts";
import { deadLetters } from "../parts/other_attention.ts";
import { operationButton, operationForm } from "../parts/notes.ts";
import { orderLink, userLink } from "../parts/order_table.ts";
import type { PageParts } from "./layout.ts";

/** Transitions that wait for a target which are listed. */
const WAITING = 50;

/** Where transitions are forwarded to, and how that goes. */
export async function targetsPage(
  { ledger, nowMs }: PageContext,
): Promise<PageParts> {
  const findings = await lookAtReceivers(ledger, nowMs);
  const named = findings.filter(({ about }) => about !== null);
  return {
    title: "Targets",
    body: markup`<h1>Targets and subscriptions</h1>
${
      named.length === 0
        ? markup`<section><p>Nothing is forwarded, and nothing subscribed:
<code>rampkit serve --forward-to URL</code> forwards.</p></section>`
        : markup`<section>${
          named.map((one) =>
            markup`<div class="item"><p class="head"><a href="${
              targetPath(one.about ?? "")
            }">${outsideText(one.about ?? "", 200)}</a></p>
<p class="${styleOf(one.level)}">${prose(one.detail)}.</p></div>`
          )
        }</section>`
    }`,
  };
}

/**
 * A target: whether it takes what is sent, what waits, and what can be done.
 */
export async function targetPage(
  context: PageContext,
  name: string,
): Promise<PageParts | null> {
  const { ledger, nowMs } = context;
  const all = await ledger.subscriptions.list();
  const found = all.find((one) => one.name === name);
  if (found === undefined) return null;
  const findings = await lookAtReceivers(ledger, nowMs);
  const finding = findings.find(({ about }) => about === name);
  const queued = (await ledger.subscriptions.queued(name))
    .filter(({ state }) => state !== "dead");
  return {
    title: "Target",
    body: markup`<p class="crumb">${
      found.target === null ? "Subscription" : "Target"
    } ${code(name)}</p>
${finding !== undefined && headline(finding, nowMs)}
${section("now", "Now", now(context, found))}
${section("waits", "What waits", waiting(queued, found, nowMs))}
${
      found.dead > 0 &&
      section(
        "dead",
        "What was given up",
        await deadLetters(context, found, targetPath(name)),
      )
    }`,
  };
}

function headline(
  { level, detail, since, next }: Finding,
  nowMs: number,
): Markup {
  return markup`<h1 class="verdict ${styleOf(level)}">${prose(detail)}.</h1>
<p>${since !== null && markup`Since ${when(since, nowMs)}. `}${
    next !== null && markup`<span class="soft">Next:</span> ${prose(next)}`
  }</p>`;
}

function now(context: PageContext, one: SubscriptionStatus): Markup {
  const { name, target, on, behind, retrying, waiting, dead, lastError } = one;
  return markup`${
    facts([
      ["Address", target !== null && code(target.url)],
      ["Takes", outsideText(on.join(" "), 300)],
      ["Last answer", outside(lastError)],
      ["Not sent yet", counted(behind, "transition")],
      ["Sent again", counted(retrying, "transition")],
      ["Behind these", counted(waiting, "transition")],
      ["Given up", counted(dead, "transition")],
      [
        "Switched off",
        target !== null && target.offAt !== null &&
        markup`${when(target.offAt, context.nowMs)}, because it ${
          outsideText(target.offReason ?? "")
        }`,
      ],
    ])
  }${buttons(context, one, name)}`;
}

/** What can be done: for who only reads, as commands. */
function buttons(
  context: PageContext,
  { target, retrying, dead }: SubscriptionStatus,
  name: string,
): Markup {
  const isOff = target !== null && target.offAt !== null;
  const actions = [
    ...(retrying + dead > 0 ? [[RETRY, "Send again now"] as const] : []),
    ...(target === null
      ? []
      : isOff
      ? [[RESUME, "Resume"] as const]
      : [[STOP, "Stop: send nothing until resumed"] as const]),
  ];
  const [first] = actions;
  if (first === undefined) return NOTHING;
  if (!context.operates) {
    return markup`<pre class="command" tabindex="0">${
      actions.map(([{ command }]) => `rampkit ${command} ${operands(name)}\n`)
    }</pre>`;
  }
  return operationForm(
    context,
    {
      operation: first[0],
      given: { subscription: name },
      back: targetPath(name),
      style: "row",
    },
    markup`${
      actions.map(([operation, title]) =>
        operationButton(operation, title, operation === STOP ? "" : "primary")
      )
    }`,
  );
}

function waiting(
  queued: readonly QueuedTransition[],
  { behind }: SubscriptionStatus,
  nowMs: number,
): Markup {
  if (queued.length === 0) {
    return markup`<p>${
      behind === 0
        ? "Nothing: it has received all that it takes."
        : "Nothing failed; the rest is sent in its turn."
    }</p>`;
  }
  return markup`${
    table(
      "Transitions that wait",
      [
        { title: "Of" },
        { title: "What" },
        { title: "Since" },
        { title: "Attempts", number: true },
        { title: "Next" },
        { title: "Last answer", sentence: true },
      ],
      queued.slice(0, WAITING).map(({ transition, ...one }) => [
        transition.entity === "order"
          ? orderLink(transition.id)
          : userLink(transition.id),
        outsideText(`${transition.machine} ${transition.status}`, 60),
        when(transition.recordedAt, nowMs),
        one.attempts,
        one.state === "waiting"
          ? "after an earlier one"
          : one.dueAt === ""
          ? "now"
          : when(one.dueAt, nowMs),
        outside(one.error, 300),
      ]),
    )
  }${
    queued.length > WAITING &&
    markup`<p class="soft">${
      counted(queued.length - WAITING, "more transition")
    }.</p>`
  }`;
}

import type {
  QueuedTransition,
  SubscriptionStatus,
} from "../../../ledger/mod.ts";
import {
  DROP,
  RETRY,
} from "../../../resources/operations/subscription_operations.ts";
import { bodyPath, counted } from "../../../resources/views/text.ts";
import type { PageContext } from "../context/page_context.ts";
import {
  code,
  type Markup,
  markup,
  NOTHING,
  outside,
  outsideText,
  prose,
  section,
  sentence,
  when,
} from "../markup/markup.ts";
import { notesPart, operationButton, operationForm } from "./notes.ts";
import { orderLink, userLink } from "./order_table.ts";
import {
  isAcknowledged,
  type Note,
  readNotes,
} from "../../../ledger/for_server.ts";
import { deliveriesPage } from "../../../resources/queries/deliveries.ts";
import { userJson } from "../../../resources/views/user_view.ts";

/** Most that are listed of one subscription. */
const LETTERS_LISTED = 10;

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
  const listed = await ledger.subscriptions.deadLetters(name, LETTERS_LISTED);
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

/** Most that are listed of each of these. */
const LISTED = 25;

/** What waits besides orders: users, dead letters, bodies nobody can read. */
export async function otherAttention(context: PageContext): Promise<Markup> {
  return markup`${await retries(context)}${await undelivered(
    context,
  )}${await quarantined(
    context,
  )}`;
}

async function retries(context: PageContext): Promise<Markup> {
  const { ledger, nowMs } = context;
  const { users, next } = await ledger.users.page({
    status: "retry",
    limit: LISTED,
  });
  const reasons = ["verification_retry"];
  const ids = users.map(({ userId }) => userId);
  const notes = await readNotes(ledger.driver, "user", ids);
  const open = users.filter(({ userId }) =>
    !isAcknowledged(reasons, notes.get(userId) ?? [])
  );
  if (open.length === 0) return NOTHING;
  return section(
    "retries",
    `Users who must hand in documents again: ${open.length}${
      next === null ? "" : " and more"
    }`,
    markup`${
      open.map((user) =>
        markup`<div class="item"><p class="head">${
          userLink(user.userId)
        } <span class="soft">${when(user.createdAt, nowMs)}</span></p>
<p>${sentence(userJson(user).verdict.message)}</p>
<p><span class="soft">Next:</span> ${prose(userJson(user).advice)}</p>${
          noted(context, "user", user.userId, reasons, notes)
        }</div>`
      )
    }`,
  );
}

async function undelivered(context: PageContext): Promise<Markup> {
  const { ledger } = context;
  const all = (await ledger.subscriptions.list()).filter(({ dead }) =>
    dead > 0
  );
  const reasons = ["dead_letters"];
  const ids = all.map(({ name }) => name);
  const notes = await readNotes(ledger.driver, "subscription", ids);
  const open = all.filter(({ name }) =>
    !isAcknowledged(reasons, notes.get(name) ?? [])
  );
  if (open.length === 0) return NOTHING;
  const items = open.map(async (one) =>
    markup`<div class="item">${await deadLetters(
      context,
      one,
      "/attention#dead",
    )}${noted(context, "subscription", one.name, reasons, notes)}</div>`
  );
  return section(
    "dead",
    "Dead letters: what your own programs did not process",
    markup`<p><span class="soft">Next:</span> Fix the receiver, then send them again.</p>${await Promise
      .all(items)}`,
  );
}

async function quarantined(context: PageContext): Promise<Markup> {
  const { ledger, nowMs } = context;
  const { items, next } = await deliveriesPage(ledger, {
    quarantined: true,
    limit: LISTED,
  });
  const reasons = ["quarantined"];
  const ids = items.map(({ id }) => id);
  const notes = await readNotes(ledger.driver, "delivery", ids);
  const open = items.filter(({ id }) =>
    !isAcknowledged(reasons, notes.get(id) ?? [])
  );
  if (open.length === 0) return NOTHING;
  return section(
    "quarantined",
    `Bodies that cannot be read: ${open.length}${
      next === null ? "" : " and more"
    }`,
    markup`<p><span class="soft">Next:</span> See what sent them. Strangers who know the webhook address send such; where there are many, change the webhook secret.</p>${
      open.map((delivery) =>
        markup`<div class="item"><p class="head"><a href="${
          bodyPath(delivery.id)
        }">${code(delivery.id)}</a> <span class="soft">${
          when(delivery.receivedAt, nowMs)
        }${delivery.bytes !== null && `, ${delivery.bytes} bytes`}</span></p>${
          noted(context, "delivery", delivery.id, reasons, notes)
        }</div>`
      )
    }`,
  );
}

function noted(
  context: PageContext,
  entity: Note["entity"],
  entityId: string,
  reasons: readonly string[],
  notes: ReadonlyMap<string, readonly Note[]>,
): Markup {
  const about = { entity, entityId, reasons, back: "/attention" };
  return notesPart(context, about, notes.get(entityId) ?? []);
}

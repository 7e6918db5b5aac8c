import {
  isAcknowledged,
  type Note,
  readNotes,
} from "../../../ledger/for_server.ts";
import { deliveriesPage } from "../../../resources/queries/deliveries.ts";
import { userJson } from "../../../resources/views/user_view.ts";
import type { PageContext } from "../context/page_context.ts";
import { type Markup, markup, NOTHING, section } from "../markup/markup.ts";
import { code, prose, sentence } from "../markup/outside.ts";
import { when } from "../markup/times.ts";
import { deadLetters } from "./dead_letters.ts";
import { notesPart } from "./notes.ts";
import { bodyPath } from "../../../resources/views/page_paths.ts";
import { userLink } from "./order_table.ts";

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

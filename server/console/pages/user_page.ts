import { readNotes } from "../../../ledger/for_server.ts";
import { ordersPage } from "../../../resources/queries/orders.ts";
import {
  userDetail,
  type UserDetailJson,
} from "../../../resources/queries/users.ts";
import {
  type UserFact,
  userFacts,
} from "../../../resources/views/user_view.ts";
import type { PageContext } from "../context/page_context.ts";
import {
  facts,
  type Markup,
  markup,
  NOTHING,
  section,
} from "../markup/markup.ts";
import { code, sentence } from "../markup/outside.ts";
import { factText } from "../parts/fact.ts";
import { notesPart } from "../parts/notes.ts";
import { orderTable, userPath } from "../parts/order_table.ts";
import type { PageParts } from "./layout.ts";

/** Orders of one page. */
const ORDERS = 50;

/**
 * A user: what they may do, and their orders.
 *
 * @param after Where the page of orders before ended.
 * @returns Null when no event names the user.
 */
export async function userPage(
  context: PageContext,
  { id, after }: { readonly id: string; readonly after: string | undefined },
): Promise<PageParts | null> {
  const { ledger, nowMs } = context;
  const found = await ledger.users.get(id);
  const { items, next } = await ordersPage(ledger, {
    user: id,
    limit: ORDERS,
    ...(after === undefined ? {} : { cursor: after }),
  }, nowMs);
  if (found === null && items.length === 0) return null;
  const user = found && await userDetail(ledger, found, nowMs);
  const onward = next !== null &&
    markup`<p><a class="button" href="${userPath(id)}?${
      new URLSearchParams({ after: next }).toString()
    }">Earlier orders</a></p>`;
  return {
    title: "User",
    body: markup`<p class="crumb">User ${code(id)}</p>
<h1 class="verdict">${
      user === null
        ? "Orders name this user; nothing else is known."
        : sentence(user.verdict.message)
    }</h1>
${user !== null && about(context, user)}
${user !== null && await noted(context, user)}
${
      section(
        "orders",
        "Orders",
        markup`${orderTable("Orders", items, nowMs)}${onward}`,
      )
    }`,
  };
}

function about({ nowMs }: PageContext, user: UserDetailJson): Markup {
  const known = userFacts(user, nowMs, user);
  const rows = (part: UserFact["part"]) =>
    known.filter((fact) => fact.part === part && fact.label !== "User")
      .map((fact) => [fact.label, factText(fact, nowMs)] as const);
  return markup`<div class="columns">${
    section("may", "Verification and limits", facts(rows("may")))
  }${
    section(
      "who",
      "Known of the user",
      facts([
        ...rows("who"),
        [
          "Odd",
          user.anomalies.map((anomaly) =>
            markup`<p>${sentence(anomaly.message)}.</p>`
          ),
        ],
      ]),
    )
  }</div>`;
}

async function noted(
  context: PageContext,
  { userId, verification }: UserDetailJson,
): Promise<Markup> {
  const { ledger, supports } = context;
  const notes = await readNotes(ledger.driver, "user", [userId]);
  const own = notes.get(userId) ?? [];
  if (own.length === 0 && !supports) return NOTHING;
  const reasons = verification.fkyc === "retry" || verification.lkyc === "retry"
    ? ["verification_retry"]
    : [];
  const about = { entity: "user", entityId: userId, reasons } as const;
  return section(
    "noted",
    "Notes",
    notesPart(context, { ...about, back: userPath(userId) }, own),
  );
}

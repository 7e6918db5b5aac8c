import { describeRejectType } from "../../../core/webhook_event/reject_type.ts";
import { readNotes } from "../../../ledger/for_server.ts";
import { ordersPage } from "../../../resources/queries/orders.ts";
import {
  userDetail,
  type UserDetailJson,
} from "../../../resources/queries/users.ts";
import { describeFreshness } from "../../../resources/wording/freshness.ts";
import type { PageContext } from "../context/page_context.ts";
import {
  facts,
  type Markup,
  markup,
  NOTHING,
  section,
} from "../markup/markup.ts";
import {
  code,
  outside,
  outsideText,
  prose,
  sentence,
} from "../markup/outside.ts";
import { when } from "../markup/times.ts";
import { notesPart } from "../parts/notes.ts";
import { orderLink, orderTable, userPath } from "../parts/order_table.ts";
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
  const { verification, verificationTrust: trust, limits } = user;
  const sure = (state: string | null, how: string) =>
    state === null ? NOTHING : markup`${outsideText(state, 60)} (${how})`;
  return markup`<div class="columns">${
    section(
      "may",
      "Verification and limits",
      facts([
        ["Status", markup`${outsideText(user.status, 60)} (${user.trust})`],
        ["Because", sentence(user.reason.message)],
        ["Next", prose(user.advice)],
        [
          "Paid twice",
          user.paidTwice.map((id) => markup`${orderLink(id)} `),
        ],
        ["Light KYC", sure(verification.lkyc, trust.lkyc)],
        ["Documents", sure(verification.fkyc, trust.fkyc)],
        ["Rejected", rejected(user)],
        ["Banned", user.banned === null ? null : user.banned ? "yes" : "no"],
        [
          "Crypto limit",
          limits !== null &&
          `${limits.cryptoRemaining ?? "?"} USD left, ${
            limits.cryptoSpending ?? "?"
          } USD spent`,
        ],
        [
          "NFT limit",
          limits !== null &&
          `${limits.digitalGoodsRemaining ?? "?"} USD left, ${
            limits.digitalGoodsSpending ?? "?"
          } USD spent`,
        ],
        ["Fresh", describeFreshness(user.freshness, nowMs)],
      ]),
    )
  }${
    section(
      "who",
      "Known of the user",
      facts([
        ["Country", outside(user.country ?? user.phoneCountry)],
        ["Phone", outside(user.phone)],
        ["Cards", cards(user)],
        ["Created", when(user.createdAt, nowMs)],
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

function rejected({ rejectReasons }: UserDetailJson): string {
  return outsideText(
    rejectReasons.map(({ code }) => describeRejectType(code) ?? code)
      .join("; "),
    500,
  );
}

function cards({ cards }: UserDetailJson): string {
  const texts = cards.slice(0, 10).map(({ brand, lastDigits }) =>
    [brand, lastDigits && `ending ${lastDigits}`].filter(Boolean).join(" ")
  );
  return outsideText(texts.join(", "), 500);
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

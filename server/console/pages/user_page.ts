import { readNotes } from "../../../ledger/for_server.ts";
import { ordersPage } from "../../../resources/queries/orders.ts";
import {
  USER_FILTERS,
  userDetail,
  type UserDetailJson,
  usersPage as listedUsers,
} from "../../../resources/queries/users.ts";
import {
  type UserFact,
  userFacts,
  type UserJson,
} from "../../../resources/views/user_view.ts";
import type { PageContext } from "../context/page_context.ts";
import {
  brief,
  copied,
  facts,
  type Markup,
  markup,
  moneyText,
  NOTHING,
  outside,
  outsideText,
  prose,
  section,
  sentence,
  table,
  when,
} from "../markup/markup.ts";
import { attentionOf } from "../../../ledger/for_resources.ts";
import {
  type OrderJson,
  orderJson,
} from "../../../resources/views/order_view.ts";
import { userCustomer } from "../../../resources/wording/state.ts";
import { describeUserStep } from "../../../resources/wording/explanation.ts";
import {
  factText,
  orderLink,
  orderTable,
  userLink,
} from "../parts/order_table.ts";
import { notesPart } from "../parts/notes.ts";
import { userPath } from "../../../resources/views/text.ts";
import type { PageParts } from "./layout.ts";
import {
  type Address,
  BY_TIME,
  chosenBy,
  type FilteredList,
  headingOf,
  listForm,
  ofFilters,
  onward,
  sameCommand,
  sortOf,
} from "../parts/list_form.ts";

/** Orders of one page. */
const ORDERS = 50;

/** A user: what they may do, and their orders. */
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
    title: `User ${outsideText(id, 40)}`,
    body: markup`<p class="crumb">User ${copied(id)}</p>
<h1 class="verdict">${
      user === null
        ? "Orders name this user; nothing else is known."
        : sentence(user.verdict.message)
    }</h1>
${user !== null && customerPart(user)}
${await waits(context, id)}
${user !== null && about(context, user)}
${user !== null && await steps(context, id)}
${user !== null && await noted(context, user)}
${
      section(
        "orders",
        "Orders",
        markup`${orderTable("Orders of the user", items, nowMs)}${onward}`,
      )
    }`,
  };
}

function about({ nowMs }: PageContext, user: UserDetailJson): Markup {
  const known = userFacts(user, nowMs, user);
  const rows = (part: UserFact["part"]) =>
    known.filter((fact) => fact.part === part && fact.label !== "User")
      .map((fact) =>
        fact.form === "orders"
          ? ["Paid twice?", twice(fact, nowMs)] as const
          : [fact.label, factText(fact, nowMs)] as const
      );
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

/** Orders that wait because another one holds their purchase. */
function twice(fact: UserFact, nowMs: number): Markup {
  return fact.text === null || fact.text === ""
    ? markup`No order of this user waits as paid twice`
    : markup`<strong class="bad">Yes</strong>: ${factText(fact, nowMs)}`;
}

/** Orders that are looked through for what waits. */
const LOOKED_THROUGH = 500;

/** Most of them that are shown. */
const WAITING = 10;

/** What waits for a person about this user. */
async function waits(
  { ledger, nowMs }: PageContext,
  userId: string,
): Promise<Markup> {
  const waiting: OrderJson[] = [];
  let count = 0;
  for await (const order of ledger.orders.list({ userId })) {
    if (attentionOf(order, nowMs).length > 0) {
      waiting.push(orderJson(order, nowMs));
    }
    if (++count === LOOKED_THROUGH) break;
  }
  if (waiting.length === 0) return NOTHING;
  return section(
    "waits",
    `Waits for a person: ${waiting.length}`,
    markup`${
      waiting.slice(0, WAITING).map((order) =>
        markup`<div class="item"><p class="head">${
          orderLink(order.orderId)
        } <span class="amount">${
          moneyText(order.currencyAmount, order.currency)
        }</span></p>
<p>${brief(order.outcome.message)}</p>
<p><span class="soft">Next:</span> ${prose(order.outcome.next)}</p></div>`
      )
    }${
      waiting.length > WAITING &&
      markup`<p class="soft">${
        waiting.length - WAITING
      } more; they stand below with all orders.</p>`
    }`,
  );
}

function customerPart({ verdict }: UserDetailJson): Markup {
  return section(
    "tell",
    "What to tell the customer",
    markup`<p class="tell" id="message">${userCustomer(verdict)}</p>
<button type="button" data-copy="message" hidden>Copy</button>`,
  );
}

/** Steps of a verification that are shown. */
const STEPS = 100;

async function steps(
  { ledger, nowMs }: PageContext,
  id: string,
): Promise<Markup> {
  const log = await ledger.transitions({ entity: "user", id, limit: STEPS });
  if (log.length === 0) return NOTHING;
  return section(
    "steps",
    "Steps of the verification",
    markup`<ol class="timeline">${
      log.map((one) =>
        markup`<li class="changed"><p class="said-what">${
          sentence(describeUserStep(one))
        }</p>
<p class="soft">Known since ${when(one.recordedAt, nowMs)}</p></li>`
      )
    }</ol>`,
  );
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

/** Users of one page. */
const USERS = 50;

const LIST: FilteredList = {
  path: "/users",
  command: "users list",
  filters: USER_FILTERS,
  first: Object.keys(USER_FILTERS),
  sorts: BY_TIME,
};

/** The users that the filters of the address choose. */
export async function usersPage(
  { ledger, nowMs }: PageContext,
  address: Address,
): Promise<PageParts> {
  const chosen = chosenBy(LIST, address);
  const after = address("after");
  return {
    title: "Users",
    here: "users",
    follows: "list",
    body: markup`<h1>Users</h1>
${listForm(LIST, chosen)}
${await ofFilters(USER_FILTERS, chosen, async (filters) => {
      const sort = sortOf(BY_TIME, chosen);
      const { items, next } = await listedUsers(ledger, {
        ...filters,
        sort,
        limit: USERS,
        ...(after === undefined ? {} : { cursor: after }),
      });
      return section(
        "list",
        headingOf(BY_TIME[sort]),
        markup`${userTable(items, nowMs)}${
          onward(LIST, chosen, { after, next })
        }
${sameCommand(LIST.command, chosen)}`,
      );
    })}`,
  };
}

function userTable(users: readonly UserJson[], nowMs: number): Markup {
  if (users.length === 0) return markup`<p class="soft">None.</p>`;
  return table(
    "Users",
    [
      { title: "User" },
      { title: "Status" },
      { title: "Country" },
      { title: "Created" },
      { title: "Verdict", sentence: true },
    ],
    users.map((user) => [
      userLink(user.userId),
      markup`${
        outside(user.status, 40)
      } <span class="soft">(${user.trust})</span>`,
      outside(user.country ?? user.phoneCountry, 40),
      when(user.createdAt, nowMs),
      brief(user.verdict.message),
    ]),
  );
}

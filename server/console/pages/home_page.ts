import { ordersPage } from "../../../resources/queries/orders.ts";
import { ATTENTION } from "../../../resources/wording/outcome.ts";
import type { PageContext } from "../context/page_context.ts";
import {
  brief,
  code,
  type Markup,
  markup,
  moment,
  outsideText,
  prose,
  section,
  sentence,
  table,
  when,
} from "../markup/markup.ts";
import { orderLink, orderTable, releaseBadge } from "../parts/order_table.ts";
import {
  COUNTED,
  HEALTH_PARTS,
  type Waiting,
} from "../../../resources/health/conditions.ts";
import { bare, type PageParts } from "./layout.ts";
import { ON_CALL } from "../../../resources/health/on_call.ts";
import {
  explainedAt,
  type HealthPart,
  MEANINGS,
  styleOf,
} from "../health/health_bar.ts";
import {
  type FindJson,
  findJson,
  searchedText,
} from "../../../resources/queries/find.ts";
import type { FoundJson } from "../../../resources/views/attention_view.ts";
import {
  CLAIMED_MATCH,
  foundField,
  NOT_TOLD,
  recordedText,
} from "../../../resources/wording/phrases.ts";
import { orderPath, userPath } from "../../../resources/views/text.ts";

/** The newest orders that are listed. */
const NEWEST = 15;

/** The first page: what waits, and what is new. */
export async function homePage(
  { ledger, nowMs, waiting: counts }: PageContext,
): Promise<PageParts> {
  const waiting = await counts.value();
  const { items } = await ordersPage(ledger, { limit: NEWEST }, nowMs);
  return {
    title: "Overview",
    body: markup`<h1 class="hidden">Overview</h1>
${section("waits", "Waits for a person", tiles(waiting))}
${
      section(
        "newest",
        "Newest orders",
        markup`${orderTable("Orders by time", items, nowMs)}
<p><a href="/orders">All orders, by release and reason</a></p>`,
      )
    }`,
  };
}

function tiles(waiting: Waiting): Markup {
  if (waiting.length === 0) {
    return markup`<p>No order waits for a person.</p>`;
  }
  return markup`
    <div class="tiles">${
    waiting.map(({ kind, count }) =>
      markup`
        <a class="tile"
          href="/attention?kind=${kind}"><strong>${
        count > COUNTED ? `${COUNTED}+` : count
      }</strong> ${ATTENTION[kind]}</a>
      `
    )
  }</div>
    <p><a href="/attention">All that waits, the gravest first</a></p>
  `;
}

/** Health of everything, with what to do about it. */
export function healthPage(
  parts: readonly HealthPart[],
  nowMs: number,
): PageParts {
  return {
    title: "Health",
    body: markup`<h1>Health</h1>
${
      HEALTH_PARTS.map((name) =>
        section(
          `part-${name}`,
          name,
          markup`<p class="soft">${MEANINGS[name]}</p>${
            parts.filter((part) => part.name === name)
              .flatMap(({ findings }) => findings)
              .map((one) => finding(one, nowMs))
          }`,
        )
      )
    }
<p><code>rampkit doctor</code> looks at settings and backups as well.</p>`,
  };
}

function finding(
  one: HealthPart["findings"][number],
  nowMs: number,
): Markup {
  const { code, level, since, detail, next } = one;
  const more = ON_CALL[code]?.split("\n\n").map((text) =>
    markup`<p>${prose(text)}</p>`
  );
  const page = explainedAt(one);
  return markup`<div class="item" id="${code}"><p><strong class="${
    styleOf(level)
  }">${prose(detail)}.</strong>${
    since !== null && markup` Since ${when(since, nowMs)}.`
  } <span class="tag">${code}</span></p>
${
    next !== null &&
    markup`<p><span class="soft">Next:</span> ${prose(next)}</p>`
  }
${
    more !== undefined &&
    markup`<details><summary>More</summary>${more}</details>`
  }
${
    !page.startsWith("/health") &&
    markup`<p><a href="${page}">Look at it</a></p>`
  }</div>`;
}

/** The page on which people sign in. */
export function signInPage(
  { to, failed }: { readonly to: string; readonly failed: boolean },
): Markup {
  return bare(
    "Sign in",
    markup`<main class="card sign-in">
<h1>Rampkit console</h1>
${
      failed &&
      markup`
        <p class="notice"
          role="alert">This token is not known. Copy it whole, without <code>read:</code> or <code>operate:</code> in front.</p>
      `
    }
<form action="/sign-in" method="post">
<input type="hidden" name="to" value="${to}">
<label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus>
<button class="primary">Sign in</button>
</form>
<p class="soft">Whoever runs this console gives out tokens.</p>
</main>`,
  );
}

/** Loads the same address once more: then the browser sends the cookie. */
export function againPage(): Markup {
  return markup`
    <!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8">
        <meta http-equiv="refresh" content="0">
        <title>Rampkit</title>
      </head>
      <body></body>
    </html>
  `;
}

/** A page that says one thing. */
export function messagePage(title: string, text: string): PageParts {
  return {
    title,
    body: markup`
      <h1>${title}</h1>
      <p>${sentence(text)}</p>
    `,
  };
}

/** No identifier is longer. */
const LONGEST = 500;

/** What a text leads to. */
export async function searchPage(
  { ledger, nowMs }: PageContext,
  text: string,
): Promise<PageParts | string> {
  const searched = text.trim().slice(0, LONGEST);
  if (searched === "") return "/";
  const { items, more, recorded } = await findJson(ledger, searched, nowMs);
  const [first, ...others] = items;
  if (first !== undefined && others.length === 0) return pathOf(first);
  return {
    title: "Search",
    searched,
    body: first === undefined
      ? nothing(searched, recorded)
      : several(items, more),
  };
}

function pathOf({ order, user }: FoundJson): string {
  return order !== null
    ? orderPath(order.orderId)
    : userPath(user?.userId ?? "");
}

function nothing(
  searched: string,
  [recorded]: FindJson["recorded"],
): Markup {
  return markup`<h1>Nothing found for <bdi>${
    outsideText(searched, 100)
  }</bdi></h1>
${
    recorded !== undefined &&
    markup`<p>${outsideText(recordedText(recorded), 1_000)}.</p>`
  }
${
    searchedText(searched).isContact &&
    markup`<p class="notice"><strong>${NOT_TOLD}</strong></p>`
  }
<p>An order is found by its id, external id, your own reference, click id,
session, transaction, wallet address or card id; a user by the user id. A link to
an explorer will do, and so will a hash that was shortened.
Capital letters do not matter. The first four characters of an order id,
external id or reference are enough, and six of anything else.</p>
<p class="soft">An order that is minutes old may not have been read yet. Look at
the health bar: do webhooks come, and is the service asked?</p>`;
}

function several(items: readonly FoundJson[], more: boolean): Markup {
  return markup`<h1>${items.length}${more && " of more"} found</h1>
${more && markup`<p>More than these match; narrow your search.</p>`}
<section>${
    table(
      "What was found",
      [
        { title: "Order or user" },
        { title: "Release" },
        { title: "Found by" },
        { title: "Created" },
        { title: "Outcome", sentence: true },
      ],
      items.map((found) => {
        const { order, user, matches } = found;
        // The ids stand in the first column.
        const by = matches.map(({ field, value, trust }, at) =>
          markup`${at > 0 && markup`<br>`}${foundField(field)}${
            field !== "orderId" && field !== "userId" &&
            markup` ${code(value)}`
          }${trust === "claimed" && ` (${CLAIMED_MATCH})`}`
        );
        return order !== null
          ? [
            orderLink(order.orderId),
            releaseBadge(order.release),
            by,
            moment(order.createdAt),
            brief(order.outcome.message),
          ]
          : [
            markup`<a href="${pathOf(found)}">User ${
              code(user?.userId ?? "")
            }</a>`,
            "",
            by,
            moment(user?.createdAt ?? null),
            brief(user?.verdict.message ?? ""),
          ];
      }),
    )
  }</section>`;
}

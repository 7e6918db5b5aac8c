import { ordersPage } from "../../../resources/queries/orders.ts";
import { ATTENTION } from "../../../resources/wording/outcome.ts";
import type { PageContext } from "../context/page_context.ts";
import {
  type Markup,
  markup,
  prose,
  section,
  sentence,
  when,
} from "../markup/markup.ts";
import { orderTable } from "../parts/order_table.ts";
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

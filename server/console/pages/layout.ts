import { healthBar, type HealthPart } from "../health/health_bar.ts";
import { type Markup, markup, NOTHING, outsideText } from "../markup/markup.ts";

/** What every page shows around its own part. */
export interface Frame {
  /** The ledger's environment. */
  readonly environment: string;
  /** Health of everything. */
  readonly health: readonly HealthPart[];
  /** The time, ms since the epoch. */
  readonly nowMs: number;
  /** Up to which event the ledger was worked out. */
  readonly position: number;
  /** Name of the person signed in; null when nobody signs in. */
  readonly reader: string | null;
  /** What the forms of this page send back. */
  readonly formToken: string;
}

/** What a page is made of. */
export interface PageParts {
  /** Its title; never personal data. */
  readonly title: string;
  /** Which entry of the navigation it is. */
  readonly here?: "attention" | "orders" | "users" | "delivery" | "months";
  /**
   * How it is updated when the ledger has more to show: `place`, it changes in
   * place; `list`, a button does that, because another row would move under the
   * pointer. @default "place"
   */
  readonly follows?: "place" | "list";
  /** Text in the search box. */
  readonly searched?: string;
  /**
   * Seconds after which it is loaded again, because it is not complete yet.
   */
  readonly refreshSeconds?: number;
  /** The page's own part. */
  readonly body: Markup;
}

/** A whole page. */
export function layout(frame: Frame, parts: PageParts): Markup {
  const { environment, health, nowMs, reader } = frame;
  const { title, here, searched = "", body } = parts;
  const entry = (id: PageParts["here"], path: string, text: string) =>
    markup`
      <a href="${path}" ${
      here === id && markup`
        aria-current="page"
      `
    }>${text}</a>
    `;
  return bare(
    title,
    markup`
      <a class="skip" href="#main">To the page</a>
      <header class="top">
      <a class="brand" href="/">Rampkit</a>
      <span class="environment ${
      environment === "production" ? "production" : "test"
    }">${outsideText(environment, 40)}</span>
      <form class="search" role="search" action="/search" method="get">
      <label class="hidden" for="q">Find an order or user</label>
      <input id="q" name="q" type="search" value="${
      outsideText(
        searched,
        200,
      )
    }" placeholder="Order, reference, transaction, wallet, user ..." autocomplete="off" spellcheck="false" maxlength="500" required>
      <button>Find</button>
      </form>
      <nav aria-label="Pages">${
      entry(
        "attention",
        "/attention",
        "Attention",
      )
    }${entry("orders", "/orders", "Orders")}${
      entry("users", "/users", "Users")
    }${entry("delivery", "/delivery", "Delivery")}${
      entry(
        "months",
        "/months",
        "Months",
      )
    }</nav>
      ${
      reader === null
        ? NOTHING
        : markup`<form class="out" action="/sign-out" method="post">
<input type="hidden" name="form" value="${frame.formToken}">
<span class="soft">${
          outsideText(reader, 60)
        }</span> <button class="quiet">Sign out</button></form>`
    }
      </header>
      <p id="gone" class="bad" role="alert" hidden></p>
      ${healthBar(health, nowMs)}
      <p id="changed" class="notice" role="status" hidden>There is more to show by now. <button type="button">Show it</button></p>
      <main id="main" tabindex="-1" data-position="${frame.position}" data-follows="${
      parts.follows ?? "place"
    }">
      ${body}
      </main>
      <footer class="soft">Times are in UTC.
      <button type="button" class="quiet" id="times" aria-pressed="false" hidden>Show local time beside it</button>
      The ledger says what is shown here; the service is not asked by opening a page.</footer>
      <script src="/files/console.js" defer></script>
    `,
  );
}

/** A page without frame, for people who are not signed in. */
export function bare(
  title: string,
  body: Markup,
): Markup {
  return markup`
    <!doctype html>
    <html lang="en">
      <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="robots" content="noindex">
    <title>${title} - Rampkit</title>
    <link rel="icon" href="/files/icon.svg" type="image/svg+xml">
    <link rel="stylesheet" href="/files/console.css">
      </head>
      <body>
    ${body}
      </body>
    </html>
  `;
}

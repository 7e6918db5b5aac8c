import { html, raw } from "hono/html";
import { PAGE_SCRIPT } from "./browser_files.ts";
import style from "./page.css" with { type: "text" };
import { type Drafts, PRODUCT } from "./shop.ts";

/** What the page is made from. */
export interface ShopPageParts {
  /** Checked widget options, for both looks. */
  readonly drafts: Drafts;
  /** The sandbox's own page. */
  readonly controlUrl: string;
  /** Address of the console over the shop's ledger. */
  readonly consoleUrl: string;
  /** What style and scripts must carry to run. */
  readonly nonce: string;
}

/** The shop, as one document that loads nothing from elsewhere. */
export function shopPage(
  { drafts, controlUrl, consoleUrl, nonce }: ShopPageParts,
): ReturnType<typeof html> {
  return html`
    <!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>Rampkit demo shop</title>
        <link rel="icon" href="data:,">
        <style nonce="${nonce}">${raw(style)}</style>
      </head>
      <body>
        <header>
          <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
            <path d="M4 27 14 5h4l10 22h-6l-6-14-6 14z" />
          </svg>
          <h1>Rampkit demo shop</h1>
          <span class="tag">no real money</span>
          <span class="grow"></span>
          <span id="link" class="link" role="status">connecting…</span>
          <time id="clock" title="The clock of shop and service"></time>
        </header>
        <main>
          <div class="left">
            <section aria-labelledby="product">
              <div class="product">
                <svg viewBox="0 0 64 64" aria-hidden="true">
                  <circle cx="36" cy="36" r="24" class="coin-back" />
                  <circle cx="28" cy="28" r="24" class="coin" />
                  <path d="M18 20h20M28 20v20" class="coin-mark" />
                </svg>
                <div>
                  <h2 id="product">Test Token</h2>
                  <p class="soft">${PRODUCT.commodity} on ${PRODUCT
                    .network}</p>
                </div>
                <p class="price">${PRODUCT.currencyAmount}&nbsp;<small>${PRODUCT
                  .currency}</small></p>
              </div>
              <label for="wallet">Your wallet</label>
              <input id="wallet" class="mono" value="${PRODUCT
                .wallet}" autocomplete="off"
                spellcheck="false" aria-describedby="shopSays">
              <button id="buy" class="primary" disabled>Buy</button>
              <p id="shopSays" class="soft"
                role="status">A click asks the shop’s server for a session and opens the official SDK with it.</p>
            </section>
            <section class="last" aria-labelledby="cheat">
              <h2 id="cheat">Try to cheat</h2>
              <p
                class="soft">The service signs nothing. Whoever learns the webhook address can post that an order is complete.</p>
              <ol class="steps">
                <li
                  id="step1"><span>An order that is not paid: buy, pay, and close the window before it goes through. Or</span>
            <button id="unpaid">Start one for me</button></li>
                <li id="step2"><span>Post a false webhook about it</span>
            <button id="forge" disabled>Forge order_complete</button></li>
                <li
                  id="step3"><span>The poller keeps asking; the service has ten minutes to agree</span>
            <button id="leap" disabled>Let ten minutes pass</button></li>
              </ol>
              <p id="cheatSays" role="status"></p>
            </section>
          </div>
          <div class="right">
            <section aria-labelledby="words" class="words">
              <h2 id="words" class="unseen">Whose word it is</h2>
              <dl>
                <div>
                  <dt><span class="trust hint">hint</span></dt>
                  <dd>the payment window says so</dd>
                </div>
                <div>
                  <dt><span class="trust claimed">claimed</span></dt>
                  <dd>a webhook says so</dd>
                </div>
                <div>
                  <dt><span class="trust confirmed">confirmed</span></dt>
                  <dd>the service says so</dd>
                </div>
              </dl>
            </section>
            <section class="order" aria-labelledby="orderTitle">
              <div class="head">
                <h2 id="orderTitle">What the ledger knows</h2>
                <nav id="orders" aria-label="Orders"></nav>
              </div>
              <div id="none">
                <p class="big">No order yet</p>
                <p
                  class="soft">Press Buy, pay in the window, and watch each event arrive.</p>
              </div>
              <div id="order" hidden>
                <div id="now" role="status" aria-atomic="true">
                  <p
                    class="state"><span id="status"></span> <span id="trust" class="trust"></span></p>
                  <p id="reason"></p>
                </div>
                <ol id="track" aria-label="Progress"></ol>
                <dl id="facts"></dl>
                <ul id="odd" aria-label="Anomalies"></ul>
                <h3>Events <span id="count" class="soft"></span></h3>
                <ol id="events" reversed></ol>
              </div>
            </section>
          </div>
        </main>
        <footer>
          <span id="ledger"></span>
          <span class="grow"></span>
          <a href="${consoleUrl}" target="_blank"
            rel="noopener">The console over the ledger</a>
          <a href="${controlUrl}" target="_blank"
            rel="noopener">The service in a box</a>
        </footer>
        <script type="application/json" id="drafts">${raw(
          JSON.stringify(drafts).replaceAll("<", "\\u003c"),
        )}</script>
        <script src="/wert.js" nonce="${nonce}"></script>
        <script type="module" src="${PAGE_SCRIPT}" nonce="${nonce}"></script>
      </body>
    </html>
  `;
}

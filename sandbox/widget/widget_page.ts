import { dataScript, escapeHtml, htmlPage } from "../http/html_page.ts";
import type { SessionRefusal } from "../engine/session_store.ts";
import { failReasons } from "../../core/assets/fail_reason.ts";
import { describeFailReason } from "../../core/assets/fail_reason.ts";
import { WIDGET_SCRIPT } from "./_widget_script.ts";
import { WIDGET_STYLE } from "./_widget_style.ts";

/** The page of an opened widget. */
export function widgetPage(
  visit: Record<string, unknown>,
  options: URLSearchParams,
): Response {
  const reasons = failReasons.map((code) =>
    `<option value="${code}">${code} ${
      escapeHtml(describeFailReason(code) ?? "")
    }</option>`
  ).join("");
  return page(
    options,
    `
<section id="checkout">
  <div class="pair">
    <label>You pay
      <span class="field"><input id="amount" inputmode="decimal" autocomplete="off">
      <b id="currency"></b></span></label>
    <label>You receive
      <span class="field"><output id="receives"></output></span></label>
  </div>
  <label>Asset
    <span class="field"><select id="asset"></select></span></label>
  <label>To this wallet
    <span class="field"><input id="address" spellcheck="false" autocomplete="off"></span></label>
  <dl>
    <div><dt>Network</dt><dd id="network"></dd></div>
    <div><dt>Fees, 5 %</dt><dd id="fee"></dd></div>
  </dl>
  <button id="pay" class="primary"></button>
</section>
<section id="order" hidden>
  <ol id="stepper">
    <li data-step="progress">Payment</li>
    <li data-step="pending">Processing</li>
    <li data-step="transfer">Sending</li>
    <li data-step="success">Done</li>
  </ol>
  <p id="headline" role="status"></p>
  <p id="detail"></p>
  <div id="decide">
    <label>Reason, if it fails
      <span class="field"><select id="reason">${reasons}</select></span></label>
    <div class="pair">
      <button id="fail">Fail</button>
      <button id="cancel">Cancel</button>
    </div>
    <button id="continue" class="primary">Let it go through</button>
  </div>
  <button id="done" class="primary" hidden>Close</button>
</section>`,
    visit,
  );
}

/** The page of a session that cannot be opened. */
export function refusedPage(
  refused: SessionRefusal,
  options: URLSearchParams,
): Response {
  const why: Record<SessionRefusal, string> = {
    unknown: "There is no such session. Create one when the user clicks.",
    expired: "This session is older than 30 seconds. Create one when the " +
      "user clicks.",
    used: "This session was opened before. Each opening needs a new one.",
  };
  return page(
    options,
    `
<section>
  <p id="headline" class="bad" role="alert">The widget cannot open</p>
  <p id="detail">${escapeHtml(why[refused])}</p>
  <button id="done" class="primary">Close</button>
</section>`,
    { refused, why: why[refused] },
  );
}

function page(
  options: URLSearchParams,
  inner: string,
  visit: Record<string, unknown>,
): Response {
  const brand = options.get("brand_color") ?? "";
  return htmlPage({
    title: "Sandbox checkout",
    style: WIDGET_STYLE,
    frameAncestors: "*",
    body: `<main id="card">
<header><span class="mark" aria-hidden="true"></span>
<h1>Sandbox checkout</h1><span class="tag">no real money</span>
<button id="close" aria-label="Close">&times;</button></header>
${inner}
</main>
${
      dataScript("visit", {
        ...visit,
        theme: options.get("theme") === "dark" ? "dark" : "light",
        brandColor: /^#[0-9a-f]{3,8}$/i.test(brand) ? brand : null,
      })
    }`,
    script: WIDGET_SCRIPT,
  });
}

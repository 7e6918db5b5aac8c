import { dataScript, escapeHtml, htmlPage } from "../http/html_page.ts";
import type { SessionRefusal } from "../engine/session_store.ts";
import {
  describeFailReason,
  failReasons,
} from "../../core/assets/fail_reason.ts";
import { WIDGET_SCRIPT } from "./_widget_script.ts";

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

/** The look of the stub widget; `--brand` follows `brand_color`. */
const WIDGET_STYLE = `
:root {
  --brand: #0b7a75; --on-brand: #fff; --back: #fff; --ink: #14181f;
  --soft: #5d6673; --line: #dde2e8; --field: #f5f7f9;
  --veil: rgba(16, 20, 28, .45); --bad: #b3261e; --good: #14733b;
}
:root[data-theme="dark"] {
  --on-brand: #fff; --back: #171b22; --ink: #eef1f5; --soft: #9aa5b3;
  --line: #2c333e; --field: #1f252e; --veil: rgba(0, 0, 0, .6);
  --bad: #ff8a80; --good: #6fd39b;
}
* { box-sizing: border-box; margin: 0; }
[hidden] { display: none !important; }
body {
  font: 15px/1.45 system-ui, -apple-system, "Segoe UI", sans-serif;
  color: var(--ink); background: var(--veil); min-height: 100vh;
  display: grid; place-items: center; padding: 16px;
}
#card {
  width: min(420px, 100%); background: var(--back); border-radius: 18px;
  box-shadow: 0 18px 60px rgba(0, 0, 0, .28); overflow: hidden;
}
header {
  display: flex; align-items: center; gap: 10px; padding: 16px 20px;
  border-bottom: 1px solid var(--line);
}
.mark { width: 14px; height: 14px; border-radius: 50%; background: var(--brand); }
h1 { font-size: 16px; font-weight: 650; }
.tag {
  font-size: 12px; color: var(--soft); border: 1px solid var(--line);
  border-radius: 99px; padding: 1px 8px;
}
#close {
  margin-left: auto; border: 0; background: none; color: var(--soft);
  font-size: 24px; line-height: 1; padding: 2px 8px; border-radius: 8px;
}
#close:hover { background: var(--field); color: var(--ink); }
section { padding: 20px; display: grid; gap: 14px; }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 12px; }
label { display: grid; gap: 5px; font-size: 13px; color: var(--soft); min-width: 0; }
.field {
  display: flex; align-items: center; gap: 8px; background: var(--field);
  border: 1px solid var(--line); border-radius: 10px; padding: 0 12px;
  min-height: 44px; color: var(--ink); min-width: 0;
}
.field:focus-within { border-color: var(--brand); outline: 2px solid var(--brand); outline-offset: -1px; }
input, select, output {
  font: inherit; color: inherit; background: none; border: 0; outline: 0;
  min-width: 0; width: 100%;
}
output { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
select { text-overflow: ellipsis; }
select option { color: #14181f; background: #fff; }
input:read-only { color: var(--soft); }
dl { display: grid; gap: 6px; font-size: 14px; }
dl div { display: flex; justify-content: space-between; }
dt { color: var(--soft); }
button {
  font: inherit; font-weight: 600; cursor: pointer; border-radius: 12px;
  min-height: 44px; border: 1px solid var(--line); color: var(--ink);
  background: var(--back);
}
button:hover { background: var(--field); }
button:focus-visible { outline: 2px solid var(--brand); outline-offset: 2px; }
button:disabled { opacity: .55; cursor: default; }
.primary { background: var(--brand); border-color: var(--brand); color: var(--on-brand); min-height: 48px; }
.primary:hover { background: var(--brand); filter: brightness(1.08); }
ol { list-style: none; padding: 0; display: grid; grid-template-columns: repeat(4, 1fr); gap: 6px; font-size: 12px; color: var(--soft); }
li { border-top: 4px solid var(--line); padding-top: 6px; }
li.past { border-color: var(--brand); color: var(--ink); }
#headline { font-size: 20px; font-weight: 650; }
#headline.bad { color: var(--bad); }
#headline.good { color: var(--good); }
#detail { color: var(--soft); overflow-wrap: anywhere; }
#decide { display: grid; gap: 12px; }
`;

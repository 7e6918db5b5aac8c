import type { WebhookEvent } from "../webhooks/event.ts";
import { escapeHtml, htmlPage } from "./_html.ts";
import { CONTROL_SCRIPT } from "./_control_script.ts";
import { CONTROL_STYLE } from "./_control_style.ts";

/** Types suggested; any other can be sent as well. */
const TYPES: readonly WebhookEvent["type"][] = [
  "registration",
  "login",
  "logout",
  "card_added",
  "verify_start",
  "verify_retry",
  "verify_failed",
  "verify_success",
  "payment_started",
  "transfer_started",
  "order_complete",
  "order_failed",
  "order_cancelled",
  "test",
  "otp_status",
];

/** The page from which a person moves the sandbox. */
export function controlPage(partnerId: string): Response {
  return htmlPage({
    title: "Rampkit sandbox",
    style: CONTROL_STYLE,
    script: CONTROL_SCRIPT,
    frameAncestors: "'none'",
    body: `
<header>
  <h1>Rampkit sandbox</h1>
  <span class="soft">partner <code>${escapeHtml(partnerId)}</code></span>
  <span class="grow"></span>
  <span id="clock" class="soft"></span>
  <span id="skip" hidden>
    <button data-skip="300000">+5 min</button>
    <button data-skip="3600000">+1 h</button>
    <button data-skip="54000000">+15 h</button>
  </span>
</header>
<p id="problem" role="alert" hidden></p>
<p id="gone" role="status" hidden>The sandbox does not answer; this page shows its last state.</p>
<div class="columns">
<div>
  <section>
    <div class="head">
      <h2>Orders <span id="orderCount" class="soft"></span></h2>
      <button id="create" class="primary">Create an order</button>
      <button id="populate">20 orders in 20 seconds</button>
    </div>
    <div class="scroll"><table>
      <thead><tr><th>Order</th><th>Status</th><th class="num">Amount</th>
      <th class="num">Asset</th><th>Changed</th><th>Next</th></tr></thead>
      <tbody id="orders"></tbody>
    </table></div>
  </section>
  <section>
    <div class="head"><h2>Webhooks sent <span id="eventCount" class="soft"></span></h2></div>
    <div class="scroll"><table>
      <thead><tr><th class="num">#</th><th>Type</th><th>About</th><th>Why</th>
      <th>Attempts</th><th>State</th></tr></thead>
      <tbody id="deliveries"></tbody>
    </table></div>
  </section>
</div>
<div>
  <section>
    <div class="head"><h2>Delivery</h2><span id="deliveryState" class="pill"></span></div>
    <form id="delivery">
      <label>Webhook address
        <input name="webhookUrl" type="url" placeholder="http://127.0.0.1:8787/webhooks/…"></label>
      <label>Switched off
        <select name="disableRule">
          <option value="first_failure">at the first failure</option>
          <option value="ladder_from_first">after 8 h of failures</option>
          <option value="ladder_from_previous">after 15 h 05 min of failures</option>
        </select></label>
      <div class="row"><button class="primary">Save</button>
      <button type="button" id="test">Test</button>
      <button type="button" id="enable" hidden>Switch on again</button></div>
    </form>
    <p id="testResult" class="soft" role="status"></p>
  </section>
  <section>
    <div class="head"><h2>Send any event</h2></div>
    <form id="event">
      <label>Type
        <input name="type" list="types" required value="order_complete"></label>
      <datalist id="types">${
      TYPES.map((type) => `<option value="${type}">`).join("")
    }</datalist>
      <label>About order
        <select name="orderId"><option value="">none</option></select></label>
      <label>Fields to set, JSON
        <textarea name="fields" rows="3" spellcheck="false"
          placeholder='{ "order": { "base_amount": "7" } }'></textarea></label>
      <button>Send</button>
    </form>
  </section>
  <section>
    <div class="head"><h2>Faults</h2>
    <button id="badDay">Bad day</button><button id="heal">Heal</button></div>
    <div id="faults"></div>
  </section>
  <section>
    <div class="head"><h2>Counted</h2></div>
    <dl id="counters"></dl>
  </section>
</div>
</div>`,
  });
}

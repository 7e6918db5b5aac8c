import type { WebhookEvent } from "../../core/webhook_event/webhook_event.ts";
import { escapeHtml, htmlPage } from "../http/html_page.ts";
import { CONTROL_FAULTS } from "./control_faults.ts";
import { CONTROL_LISTS } from "./_control_lists.ts";
import { CONTROL_SCRIPT } from "./_control_script.ts";
import { CONTROL_STYLE } from "./_control_style.ts";

/** Types that the page suggests; any other can be sent as well. */
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

/** The page from which a person controls the sandbox. */
export function controlPage(partnerId: string): Response {
  const partner = escapeHtml(partnerId);
  return htmlPage({
    title: "Rampkit sandbox",
    style: CONTROL_STYLE,
    script: CONTROL_LISTS + CONTROL_FAULTS + CONTROL_SCRIPT,
    frameAncestors: "'none'",
    body: `
<header>
  <div class="grow">
    <h1>Rampkit sandbox</h1>
    <p class="soft">The service in a box, at <code id="origin"></code> for your client,
      with the key it printed. Partner <code>${partner}</code>.
      <a href="/control/widget" target="_blank" rel="noopener">Buy in the widget</a></p>
  </div>
  <div class="time">
    <p><span class="soft">Sandbox time</span> <span id="clock" class="num"></span></p>
    <p id="skip" hidden role="group" aria-label="Move the sandbox's clock ahead">
      <button data-skip="300000">+5 min</button>
      <button data-skip="3600000">+1 h</button>
      <button data-skip="54000000">+15 h</button>
    </p>
    <p id="moved" class="soft" role="status"></p>
  </div>
</header>
<main class="columns">
<div>
  <section aria-labelledby="ordersTitle">
    <div class="head">
      <h2 id="ordersTitle">Orders <span id="orderCount" class="soft"></span></h2>
      <button id="create" class="primary">Create an order</button>
      <button id="populate">20 orders in 20 seconds</button>
    </div>
    <div class="scroll" tabindex="0" role="region" aria-labelledby="ordersTitle"><table>
      <thead><tr><th>Order</th><th>Status</th><th>Next step</th><th class="num">Amount</th>
      <th class="num">Asset</th><th>Changed</th></tr></thead>
      <tbody id="orders"></tbody>
    </table></div>
  </section>
  <section aria-labelledby="sentTitle">
    <div class="head"><h2 id="sentTitle">Webhooks <span id="eventCount" class="soft"></span></h2></div>
    <div class="scroll" tabindex="0" role="region" aria-labelledby="sentTitle"><table>
      <thead><tr><th class="num">#</th><th>Type</th><th>State</th><th>About</th><th>Why</th>
      <th>Answers</th></tr></thead>
      <tbody id="deliveries"></tbody>
    </table></div>
  </section>
</div>
<div>
  <section aria-labelledby="deliveryTitle">
    <div class="head"><h2 id="deliveryTitle">Delivery</h2><span id="deliveryState" class="pill"></span></div>
    <p id="deliveryWords" class="soft words" role="status"></p>
    <form id="delivery">
      <label>Webhook address
        <input name="webhookUrl" type="url" placeholder="http://127.0.0.1:8787/webhooks/…"></label>
      <label>Delivery is switched off
        <select name="disableRule">
          <option value="first_failure">at the first failure</option>
          <option value="ladder_from_first">8 h after the first failure</option>
          <option value="ladder_from_previous">after 15 h 05 min of failures</option>
        </select></label>
      <div class="row"><button class="primary">Save</button>
      <button type="button" id="test">Test</button>
      <button type="button" id="enable" hidden>Switch on again</button></div>
    </form>
    <p id="testResult" class="soft words" role="status">Test sends one event at once, even while delivery is off.</p>
  </section>
  <section aria-labelledby="faultsTitle">
    <div class="head"><h2 id="faultsTitle">Faults</h2>
    <button id="badDay" title="A little of every fault">Bad day</button>
    <button id="heal" title="Switch every fault off">All off</button></div>
    <div id="faults"></div>
  </section>
  <section aria-labelledby="eventTitle">
    <div class="head"><h2 id="eventTitle">Send any event</h2></div>
    <form id="event">
      <label>Type
        <input name="type" list="types" required value="order_complete" autocomplete="off"></label>
      <datalist id="types">${
      TYPES.map((type) => `<option value="${type}">`).join("")
    }</datalist>
      <label>About order
        <select name="orderId"><option value="">none</option></select></label>
      <label>Fields to set, as JSON
        <textarea name="fields" rows="3" spellcheck="false"
          placeholder='{ "order": { "base_amount": "7" } }'></textarea></label>
      <div class="row"><button>Send</button></div>
    </form>
    <p id="eventResult" class="soft words" role="status">Nothing has to have happened: this is how a lie looks.</p>
  </section>
  <section aria-labelledby="countedTitle">
    <div class="head"><h2 id="countedTitle">Counted</h2></div>
    <dl id="counters"></dl>
  </section>
</div>
</main>
<div id="problem" role="alert" hidden><span></span><button type="button">Close</button></div>
<p id="gone" role="status" hidden>The sandbox does not answer; this page shows its last state.</p>`,
  });
}

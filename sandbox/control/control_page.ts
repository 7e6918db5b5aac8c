import { WEBHOOK_TYPES } from "../../core/webhook_event/event_types.ts";
import { BAD_DAY } from "../faults/faults.ts";
import { escapeHtml, htmlPage } from "../http/html_page.ts";
import { CONTROL_SCRIPT } from "./_control_script.ts";
import { CONTROL_STYLE } from "./_control_style.ts";

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
      Object.keys(WEBHOOK_TYPES).map((type) => `<option value="${type}">`).join(
        "",
      )
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

/** How the control page shows orders and webhooks. */
const CONTROL_LISTS = `
const at = (id) => document.getElementById(id);
const MOOD = {
  success: "good", received: "good", enabled: "good", failed: "bad", cancelled: "bad",
  disabled: "bad", dropped: "bad", notSent: "bad", pending: "warn", progress: "warn", retrying: "warn",
};
const WORDS = {
  notSent: "not sent", life: "it happened", triggered: "by hand", test: "Test button",
  forged: "forged", unknownType: "unknown type",
};
function make(tag, props = {}, ...children) {
  const element = Object.assign(document.createElement(tag), props);
  element.append(...children);
  return element;
}
const pill = (text) => make("span", { className: "pill " + (MOOD[text] ?? "soft") }, WORDS[text] ?? text);
const cell = (content, className = "") => make("td", { className, title: typeof content === "string" ? content : "" }, content);
const time = (ms) => new Date(ms).toISOString().slice(11, 19);
const plural = (count, word) => count + " " + word + (count === 1 ? "" : "s");
function button(key, text, label, onclick) {
  const made = make("button", { type: "button", onclick }, text);
  made.dataset.key = key;
  made.setAttribute("aria-label", label);
  return made;
}
// Rows are rebuilt when something changed. The keyboard focus stays on the same
// button, or in the same row when that button is gone.
function fill(body, rows, columns, empty) {
  const focused = body.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  body.replaceChildren(...(rows.length ? rows : [make("tr", {},
    make("td", { colSpan: columns, className: "empty" }, empty))]));
  if (!focused) return;
  const buttons = [...body.querySelectorAll("[data-key]")];
  const row = focused.split(" ")[0] + " ";
  const next = buttons.find((one) => one.dataset.key === focused) ??
    buttons.find((one) => one.dataset.key.startsWith(row)) ?? body.closest(".scroll");
  next.focus({ preventScroll: true });
}

function showOrders(state) {
  at("orderCount").textContent = plural(state.orderCount, "order") + ", " + plural(state.userCount, "user") +
    (state.orderCount > state.orders.length ? "; the latest " + state.orders.length : "");
  fill(at("orders"), state.orders.map((order) => {
    const next = make("td", { className: "steps" });
    for (const step of order.nextSteps) {
      next.append(button(order.orderId + " " + step, step, step + " order " + order.externalOrderId,
        () => then("POST", "/orders/" + encodeURIComponent(order.orderId) + "/steps", { step })));
    }
    if (order.nextSteps.length === 0) next.append(make("span", { className: "soft" }, "none"));
    return make("tr", {},
      make("td", { className: "mono", title: order.orderId }, order.externalOrderId),
      cell(pill(order.status)), next,
      cell(order.currencyAmount + " " + order.currency, "num"),
      make("td", { className: "num", title: order.cryptoAmount + " " + order.commodity + " on " + order.network },
        make("span", { className: "cut" }, order.cryptoAmount), " " + order.commodity),
      cell(time(order.changedAtMs)));
  }), 6, "No orders yet. Create one and press its next steps, or buy something in the widget.");
}
function offerOrders({ orders }) {
  const select = at("event").orderId;
  const { value } = select;
  select.replaceChildren(new Option("none", ""), ...orders.map((order) =>
    new Option(order.externalOrderId + " " + order.status, order.orderId)));
  select.value = [...select.options].some((option) => option.value === value) ? value : "";
}

const seen = (attempt) => attempt.status === 0 ? "no answer" : String(attempt.status);
function truthOf({ status, truth }) {
  if (!truth.reached) return "the request never arrived";
  if (truth.answered === null) return status === 0 ? "no answer within 5 s, or refused" : "";
  return truth.answered === status ? "" : "the endpoint answered " + truth.answered + ", lost or too late";
}
const opened = new Set();
function details(delivery) {
  let body = delivery.body;
  try { body = JSON.stringify(JSON.parse(body), null, 2); } catch { /* shown as it was sent */ }
  return make("tr", { className: "details" }, make("td", { colSpan: 6 },
    make("ol", {}, ...delivery.attempts.map((attempt) => make("li", {},
      [time(attempt.atMs), seen(attempt) + " in " + attempt.tookMs + " ms", attempt.copy ? "a copy" : "", truthOf(attempt)]
        .filter((part) => part !== "").join(", ")))),
    make("pre", {}, body)));
}
function showDeliveries(state) {
  at("eventCount").textContent = plural(state.counters.attempts, "attempt");
  const names = new Map(state.orders.map((order) => [order.orderId, order.externalOrderId]));
  fill(at("deliveries"), state.deliveries.flatMap((delivery) => {
    const { number } = delivery;
    const isOpen = opened.has(number);
    const answers = delivery.attempts.map(seen).join(" → ");
    const next = delivery.nextAttemptMs ? "again at " + time(delivery.nextAttemptMs) : "";
    const toggle = button(number + " open", delivery.type, delivery.type + ", what was sent and answered", () => {
      if (!opened.delete(number)) opened.add(number);
      showDeliveries(latest);
    });
    toggle.className = "quiet";
    toggle.setAttribute("aria-expanded", String(isOpen));
    const row = make("tr", {},
      cell(String(number), "num"), cell(toggle), cell(pill(delivery.state)),
      cell(names.get(delivery.orderId) ?? (delivery.userId ? "user …" + delivery.userId.slice(-4) : "–"), "mono"),
      cell(WORDS[delivery.cause] ?? delivery.cause),
      cell([answers, next].filter((part) => part !== "").join(", ") || "–", "answers"));
    return isOpen ? [row, details(delivery)] : [row];
  }), 6, "Nothing sent yet. Enter a webhook address and press Test.");
}
`;

/** The switches of the control page's faults. */
const CONTROL_FAULTS = `
const BAD_DAY = ${JSON.stringify(BAD_DAY)};
const GROUPS = {
  "Webhooks": {
    drop: "Never sent", duplicate: "Sent twice", delay: "Late, up to 10 min",
    reorder: "Overtaken by the next", forge: "A forged one beside",
    unknownType: "Unknown type beside", malformed: "Body cut short",
    answerLost: "Our 2xx gets lost", requestLost: "Request gets lost", endpointDown: "Endpoint down",
  },
  "API": {
    apiTooManyRequests: "Answer 429", apiServerError: "Answer 500, 502, 503",
    apiTimeout: "No answer for 2 min", apiSlowBody: "Body trickles in",
    pageInsert: "Row inserted in a walk", pageChange: "Row changed in a walk",
    pageShort: "Page cut short", sameSecond: "Same created_at",
    totalWrong: "Total is wrong", totalMissing: "Total is missing",
    oddRow: "A field of the wrong kind", rowWithoutId: "Row without an id", timeAhead: "Time in the far future",
    refusedId: "Search by an id refused", wrongDate: "Date header is wrong", endlessCursor: "Cursor repeats its page",
    clockSkewMs: "Clock 10 min ahead",
  },
};
const percent = (rate) => rate > 0 ? Math.round(rate * 100) + " %" : "off";
function sayRate(label, rate) {
  label.querySelector("input").setAttribute("aria-valuetext", percent(rate));
  label.querySelector("output").textContent = percent(rate);
}
function addFault(box, name, title, value) {
  const isSkew = name === "clockSkewMs";
  const isRate = typeof value === "number" && !isSkew;
  const input = make("input", isRate ? { type: "range", min: 0, max: 1, step: 0.01 } : { type: "checkbox" });
  const read = () => isRate ? Number(input.value) : isSkew ? (input.checked ? 600000 : 0) : input.checked;
  const label = make("label", { className: "fault" }, make("span", {}, title), input, ...(isRate ? [make("output")] : []));
  label.dataset.name = name;
  input.onchange = () => then("PATCH", "/faults", { [name]: read() });
  if (isRate) input.oninput = () => sayRate(label, input.value);
  box.append(label);
}
function showFaults({ faults }) {
  const box = at("faults");
  if (!box.hasChildNodes()) {
    for (const [group, titles] of Object.entries(GROUPS)) {
      const set = make("fieldset", {}, make("legend", {}, group));
      for (const [name, title] of Object.entries(titles)) addFault(set, name, title, faults[name]);
      box.append(set);
    }
  }
  for (const label of box.querySelectorAll(".fault")) {
    const value = faults[label.dataset.name];
    const input = label.querySelector("input");
    label.classList.toggle("on", Boolean(value));
    // Do not move a control that a person is moving.
    if (input.matches(":active")) continue;
    if (input.type === "checkbox") input.checked = Boolean(value);
    else {
      input.value = value;
      sayRate(label, value);
    }
  }
}
`;

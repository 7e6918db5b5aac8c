import { WEBHOOK_TYPES } from "../core/webhook_event/event_types.ts";
import { escapeHtml, htmlPage } from "./answer.ts";
import type { Service } from "./service.ts";

/** What a parameter may be. */
export type KindName =
  | "text"
  | "url"
  | "number"
  | "rate"
  | "switch"
  | "object"
  | "list";

/** A kind by its name, or a list of every value. */
export type Kind = KindName | readonly string[];

type Fields = Readonly<Record<string, unknown>>;

/** One thing that a person or a program can do to the sandbox. */
export interface Control {
  readonly help: string;
  readonly parameters: Readonly<Record<string, Kind>>;
  /** The parameters that the page's form has. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly run: (service: Service, fields: Fields, id: string) => unknown;
  /** Its buttons, and what each sends beside the fields of the form. */
  readonly buttons?: Readonly<Record<string, Fields>>;
}

/** The page from which a person controls the sandbox. */
export function controlPage(
  partnerId: string,
  controls: Readonly<Record<string, Control>>,
): Response {
  const form = (place: string) => formOf(place, controls[place] as Control);
  const section = (id: string, title: string, more: string, body: string) =>
    `<section aria-labelledby="${id}Title"><div class="row"><h2 id="${id}Title">${title}</h2>${more}</div>${body}</section>`;
  const table = (id: string, heads: string) =>
    `<div class="scroll" tabindex="0" role="region" aria-labelledby="${id}Title"><table><thead><tr><th>${
      heads.replaceAll("|", "</th><th>")
    }</th></tr></thead><tbody id="${id}"></tbody></table></div>`;
  const words = (id: string, place?: string) =>
    `<p id="${id}" class="soft words" role="status">${
      place ? escapeHtml(controls[place]?.help ?? "") : ""
    }</p>`;
  const types = Object.keys(WEBHOOK_TYPES).map((type) => `<option>${type}`);
  return htmlPage({
    ...{ title: "Rampkit sandbox", style: STYLE, script: SCRIPT, data: null },
    frameAncestors: "'none'",
    body: `<header class="row"><div class="grow"><h1>Rampkit sandbox</h1>
<p class="soft">The service in a box, at <code id="origin"></code> for your client, with the key it printed.
Partner <code>${escapeHtml(partnerId)}</code>.
<a href="/control/widget" target="_blank" rel="noopener">Buy in the widget</a></p></div>
<div><p><span class="soft">Sandbox time</span> <span id="clock"></span></p>
${
      form("POST /clock")
    }<p id="moved" class="soft" role="status"></p></div></header>
<main class="columns"><div>${
      section(
        "orders",
        'Orders <span id="orderCount" class="soft"></span>',
        form("POST /orders") + form("POST /populate"),
        table("orders", "Order|Status|Next step|Amount|Asset|Changed"),
      )
    }${
      section(
        "deliveries",
        'Webhooks <span id="eventCount" class="soft"></span>',
        "",
        table("deliveries", "#|Type|State|About|Why|Answers"),
      )
    }</div><div>${
      section(
        "delivery",
        "Delivery",
        '<span id="deliveryState" class="pill"></span>',
        words("deliveryWords") + form("PATCH /delivery") + form("POST /test") +
          words("testSaid", "POST /test"),
      )
    }
${section("faults", "Faults", form("DELETE /faults"), form("PATCH /faults"))}
${
      section(
        "trigger",
        "Send any event",
        "",
        form("POST /events") + words("triggerSaid", "POST /events"),
      )
    }
${section("counters", "Counted", "", '<dl id="counters"></dl>')}</div></main>
<datalist id="types">${
      types.join("")
    }</datalist><datalist id="orderIds"></datalist>
<div id="problem" role="alert" hidden><span></span><button type="button">Close</button></div>
<p id="gone" role="status" hidden>The sandbox does not answer; this page shows its last state.</p>`,
  });
}

/** The form of a control, made of its row. */
function formOf(
  place: string,
  { help, parameters, labels = {}, buttons = {} }: Control,
): string {
  const fields = Object.entries(labels).map(([name, label]) =>
    fieldOf(name, parameters[name] ?? "text", escapeHtml(label))
  );
  const pressed = Object.entries(buttons).map(([label, sent]) =>
    `<button type="button" value="${
      escapeHtml(JSON.stringify(sent))
    }">${label}</button>`
  );
  return `<form data-place="${place}" title="${escapeHtml(help)}">${
    fields.join("")
  }<span class="row">${pressed.join("")}</span></form>`;
}

function fieldOf(name: string, kind: Kind, label: string): string {
  const named = `name="${name}" data-kind="${kind}"`;
  const row = `<label class="fault"><span>${label}</span><input ${named}`;
  if (kind === "switch") return `${row} type="checkbox"></label>`;
  if (kind === "rate") {
    return `${row} type="range" min="0" max="1" step="0.01"><output></output></label>`;
  }
  const input = typeof kind !== "string"
    ? `<select ${named}>${
      kind.map((one) => `<option>${one}</option>`).join("")
    }</select>`
    : kind === "object"
    ? `<textarea rows="3" spellcheck="false" ${named}
      placeholder='{ "order": { "base_amount": "7" } }'></textarea>`
    : `<input type="${kind}" list="${name}s" ${named}>`;
  return `<label>${label}${input}</label>`;
}

/** The look of the page, light or dark as the reader has it. */
const STYLE = `
:root {
  color-scheme: light dark;
  --brand: light-dark(#0b6e69, #4fc3bb); --back: light-dark(#f3f5f7, #11151a); --card: light-dark(#fff, #1a2027);
  --ink: light-dark(#161b22, #e8ecf1); --soft: light-dark(#5b6572, #97a3b1); --line: light-dark(#dfe4ea, #2c343e);
  --edge: light-dark(#8a94a1, #6b7684); --good: light-dark(#14733b, #6fd39b); --bad: light-dark(#b3261e, #ff8f85);
  --warn: light-dark(#8a5a00, #f2bd5c);
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body { margin: 0; padding: 0 24px 40px; background: var(--back); color: var(--ink); font: 14px/1.45 system-ui, sans-serif; }
h1 { font-size: 20px; margin: 0; } h2 { font-size: 15px; margin: 0; flex: 1; }
header { padding: 18px 0; align-items: flex-start; } header p { margin: 4px 0; } #moved { min-height: 1.45em; }
a { color: var(--brand); } .soft { color: var(--soft); font-weight: 400; } .grow { flex: 1; }
code, .mono, pre { font: 12.5px/1.4 ui-monospace, Menlo, Consolas, monospace; }
.columns { display: grid; grid-template-columns: minmax(0, 1fr) 340px; gap: 20px; align-items: start; }
@media (max-width: 980px) { .columns { grid-template-columns: minmax(0, 1fr); } }
section { background: var(--card); border: 1px solid var(--line); border-radius: 14px; padding: 16px; margin-bottom: 20px; }
.row { display: flex; flex-wrap: wrap; align-items: center; gap: 8px; }
/* A height of its own, so that nothing below moves while rows come. */
.scroll { overflow: auto; height: 42vh; min-height: 260px; margin-top: 12px; }
.words { margin: 12px 0; min-height: 2.9em; font-size: 13px; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: 7px 14px 7px 0; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { font-size: 12px; color: var(--soft); position: sticky; top: 0; background: var(--card); }
td.cut { max-width: 190px; overflow: hidden; text-overflow: ellipsis; } td.wide { white-space: normal; min-width: 150px; }
td button { margin: 1px 4px 1px 0; padding: 2px 8px; font-size: 12.5px; }
pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; }
button { font: inherit; cursor: pointer; color: var(--ink); background: var(--card); border: 1px solid var(--edge); border-radius: 9px; padding: 5px 12px; }
:focus-visible { outline: 2px solid var(--brand); outline-offset: 1px; }
.pill { border-radius: 99px; padding: 1px 10px; font-size: 12.5px; font-weight: 600; border: 1px solid currentColor; }
.good { color: var(--good); } .bad { color: var(--bad); } .warn { color: var(--warn); }
label { display: grid; gap: 4px; font-size: 12.5px; color: var(--soft); margin-bottom: 10px; }
input, select, textarea { font: inherit; color: var(--ink); background: var(--back); border: 1px solid var(--edge); border-radius: 9px; padding: 7px 10px; min-width: 0; width: 100%; }
.fault { grid-template-columns: 1fr 84px 40px; align-items: center; margin: 0; padding: 3px 0; color: var(--ink); }
.fault input { padding: 0; accent-color: var(--brand); } .fault output { text-align: right; } .fault.on output { color: var(--bad); font-weight: 600; }
[data-place="PATCH /faults"] { display: flex; flex-direction: column; margin-top: 8px; } [data-place="PATCH /faults"] .row { order: -1; }
dl { display: grid; grid-template-columns: 1fr auto; gap: 3px 12px; margin: 12px 0 0; } dt { color: var(--soft); } dd { margin: 0; }
#gone, #problem { position: fixed; inset: auto 16px 16px; margin: 0 auto; width: fit-content; border-radius: 10px; padding: 10px 14px; color: var(--card); background: var(--warn); }
#problem { background: var(--bad); }
`;

/** It shows the state of the sandbox, and sends what the forms say. */
const SCRIPT = `
const at = (id) => document.getElementById(id);
const MOOD = {
  success: "good", received: "good", enabled: "good", failed: "bad", cancelled: "bad", disabled: "bad",
  dropped: "bad", notSent: "bad", pending: "warn", progress: "warn", retrying: "warn",
};
const WORDS = { notSent: "not sent", life: "it happened", triggered: "by hand", test: "Test button", unknownType: "unknown type" };
const time = (ms) => new Date(ms).toISOString().slice(11, 19);
const plural = (count, word) => count + " " + word + (count === 1 ? "" : "s");
function make(tag, props = {}, ...children) {
  const element = Object.assign(document.createElement(tag), props);
  element.append(...children);
  return element;
}
const pill = (text) => make("span", { className: "pill " + (MOOD[text] ?? "soft") }, WORDS[text] ?? text);
const cell = (content, className = "", title = "") => make("td", { className, title }, ...[content].flat());
const wide = (...content) => make("td", { colSpan: 6, className: "wide" }, ...content);
function button(key, text, ariaLabel, onclick) {
  const made = make("button", { type: "button", ariaLabel, onclick }, text);
  made.dataset.key = key;
  return made;
}
function say(id, text) {
  if (at(id).textContent !== text) at(id).textContent = text;
}
function complain(message) {
  at("problem").hidden = message === null;
  at("problem").querySelector("span").textContent = message ?? "";
}
at("problem").querySelector("button").onclick = () => complain(null);

async function call(method, path, body) {
  const response = await fetch("/control" + path, { method, ...(body && { body: JSON.stringify(body) }) });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}
// One change after the other, so that what was typed is saved before a button acts on it.
let last = Promise.resolve();
function send(place, fields, then = () => {}) {
  last = last.then(() => call(...place.split(" "), fields())).then((answer) => {
    complain(null);
    then(answer);
  }).catch((error) => complain(error.message)).then(refresh);
}

// The forms of the controls.
function valueOf(input) {
  const { kind } = input.dataset;
  if (kind === "switch") return input.checked;
  if (kind === "rate" || kind === "number") return Number(input.value);
  if (kind !== "object") return input.value;
  try {
    return JSON.parse(input.value);
  } catch (error) {
    throw new Error(input.labels[0].firstChild.textContent + " is not JSON: " + error.message);
  }
}
const filled = (form) => Object.fromEntries([...form.elements]
  .filter((input) => input.name && input.value.trim() !== "").map((input) => [input.name, valueOf(input)]));
const THEN = {
  "POST /test": ({ attempts: [attempt], state }) => say("testSaid", !attempt
    ? "Not sent: enter a webhook address first."
    : attempt.status === 0 ? "Failed: " + (truthOf(attempt) || "no answer") + "."
    : (state === "received" ? "Received" : "Failed") + ": your endpoint answered " + attempt.status + " in " + attempt.tookMs + " ms."),
  "POST /events": () => say("triggerSaid", "Handed to delivery: " + document.querySelector("[name=type]").value + "."),
};
for (const form of document.forms) {
  const { place } = form.dataset;
  const isChange = place.startsWith("PATCH");
  form.onsubmit = (event) => event.preventDefault();
  // What was chosen is read at once: an answer may show the state before it.
  if (isChange) {
    form.onchange = ({ target }) => {
      const fields = { [target.name]: valueOf(target) };
      send(place, () => fields);
    };
  }
  form.oninput = ({ target }) => target.type === "range" && sayRate(target);
  for (const one of form.querySelectorAll("button")) {
    one.onclick = () => send(place, () => ({ ...(!isChange && filled(form)), ...JSON.parse(one.value) }), THEN[place]);
  }
}
function sayRate(input) {
  const text = input.value > 0 ? Math.round(input.value * 100) + " %" : "off";
  input.setAttribute("aria-valuetext", text);
  input.parentElement.querySelector("output").textContent = text;
}
function showForm(name, values) {
  for (const input of document.querySelectorAll('[data-place="PATCH /' + name + '"] [name]')) {
    const value = values[input.name];
    input.closest("label").classList.toggle("on", Boolean(value));
    // Do not change what a person is changing.
    if (input.matches(":active, :focus:not([type=range], [type=checkbox])")) continue;
    if (input.type === "checkbox") input.checked = Boolean(value);
    else input.value = value ?? "";
    if (input.type === "range") sayRate(input);
  }
}

// Rows are rebuilt when something changed. The keyboard focus stays on the same
// button, or in the same row when that button is gone.
function fill(body, rows, empty) {
  const focused = body.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  body.replaceChildren(...(rows.length ? rows : [make("tr", { className: "soft" }, wide(empty))]));
  if (!focused) return;
  const buttons = [...body.querySelectorAll("[data-key]")];
  const next = buttons.find((one) => one.dataset.key === focused) ??
    buttons.find((one) => one.dataset.key.startsWith(focused.split(" ")[0] + " ")) ?? body.closest(".scroll");
  next.focus({ preventScroll: true });
}
function showOrders({ orders, orderCount, userCount }) {
  say("orderCount", plural(orderCount, "order") + ", " + plural(userCount, "user") +
    (orderCount > orders.length ? "; the latest " + orders.length : ""));
  at("orderIds").replaceChildren(...orders.map((order) => new Option(order.externalOrderId + " " + order.status, order.orderId)));
  fill(at("orders"), orders.map((order) => {
    const { orderId, externalOrderId: name } = order;
    const steps = order.nextSteps.map((step) => button(orderId + " " + step, step, step + " order " + name,
      () => send("POST /orders/" + encodeURIComponent(orderId) + "/steps", () => ({ step }))));
    const asset = order.cryptoAmount + " " + order.commodity;
    return make("tr", {}, cell(name, "mono", orderId), cell(pill(order.status)), cell(steps.length ? steps : "none", "wide"),
      cell(order.currencyAmount + " " + order.currency), cell(asset, "cut", asset + " on " + order.network), cell(time(order.changedAtMs)));
  }), "No orders yet. Create one and press its next steps, or buy something in the widget.");
}
const seen = (attempt) => attempt.status === 0 ? "no answer" : String(attempt.status);
function truthOf({ status, truth }) {
  if (!truth.reached) return "the request never arrived";
  if (truth.answered === null) return status === 0 ? "no answer within 5 s, or refused" : "";
  return truth.answered === status ? "" : "the endpoint answered " + truth.answered + ", lost or too late";
}
const opened = new Set();
function details({ body, attempts }) {
  let text = body;
  try { text = JSON.stringify(JSON.parse(body), null, 2); } catch { /* shown as it was sent */ }
  const lines = attempts.map((attempt) => [time(attempt.atMs), seen(attempt) + " in " + attempt.tookMs + " ms",
    attempt.copy ? "a copy" : "", truthOf(attempt)].filter(Boolean).join(", "));
  return make("tr", {}, wide(make("ol", {}, ...lines.map((line) => make("li", {}, line))), make("pre", {}, text)));
}
function showDeliveries(state) {
  say("eventCount", plural(state.counters.attempts, "attempt"));
  const names = new Map(state.orders.map((order) => [order.orderId, order.externalOrderId]));
  fill(at("deliveries"), state.deliveries.flatMap((delivery) => {
    const { number, type, orderId, userId, cause, nextAttemptMs } = delivery;
    const toggle = button(number + " open", type, type + ", what was sent and answered", () => {
      if (!opened.delete(number)) opened.add(number);
      showDeliveries(state);
    });
    toggle.ariaExpanded = String(opened.has(number));
    const again = nextAttemptMs ? ["again at " + time(nextAttemptMs)] : [];
    const row = make("tr", {}, cell(String(number)), cell(toggle), cell(pill(delivery.state)),
      cell(names.get(orderId) ?? (userId ? "user …" + userId.slice(-4) : "–"), "mono"),
      cell(WORDS[cause] ?? cause), cell([...delivery.attempts.map(seen), ...again].join(", ") || "–", "wide"));
    return opened.has(number) ? [row, details(delivery)] : [row];
  }), "Nothing sent yet. Enter a webhook address and press Test.");
}
function span(ms) {
  const minutes = Math.round(ms / 60000);
  const parts = { d: Math.floor(minutes / 1440), h: Math.floor(minutes / 60) % 24, min: minutes % 60 };
  return Object.entries(parts).filter(([, count]) => count > 0).map(([unit, count]) => count + " " + unit).join(" ") || "under a minute";
}
function wordsOf({ delivery, deliveries, nowMs }) {
  if (!delivery.webhookUrl) return "Webhooks go nowhere. Enter where your endpoint listens, then press Test.";
  if (delivery.state === "disabled") {
    return "Off since " + time(delivery.disabledSinceMs) + ": what happens now is never told, until a person switches it on again.";
  }
  const due = deliveries.flatMap((one) => one.nextAttemptMs ?? []);
  if (due.length === 0) return "Webhooks go out as things happen.";
  const next = Math.min(...due);
  return plural(due.length, "webhook") + " to be sent again, the next at " + time(next) + ", in " + span(next - nowMs) + ". Move the clock to see it.";
}
// A list is rebuilt only when it changed.
const shown = new Map();
function changed(name, value) {
  const json = JSON.stringify(value);
  const differs = shown.get(name) !== json;
  shown.set(name, json);
  return differs;
}
async function refresh() {
  const state = await call("GET", "/state").catch(() => null);
  at("gone").hidden = state !== null;
  if (!state) return;
  const { nowMs, movedMs, delivery, orders, counters } = state;
  say("clock", new Date(nowMs).toISOString().replace("T", " ").slice(0, 19) + " UTC");
  document.querySelector('[data-place="POST /clock"]').hidden = !state.movable;
  say("moved", movedMs > 0 ? span(movedMs) + " ahead of your programs' clocks" : "");
  at("deliveryState").replaceWith(Object.assign(pill(delivery.webhookUrl ? delivery.state : "no address"), { id: "deliveryState" }));
  say("deliveryWords", wordsOf(state));
  document.querySelector('[data-place="PATCH /delivery"] button').hidden = delivery.state !== "disabled";
  const ordersChanged = changed("orders", [orders, state.orderCount, state.userCount]);
  if (ordersChanged) showOrders(state);
  if (changed("deliveries", state.deliveries) || ordersChanged) showDeliveries(state);
  showForm("delivery", delivery);
  showForm("faults", state.faults);
  at("counters").replaceChildren(...Object.entries(counters).filter(([, count]) => count > 0).flatMap(([name, count]) =>
    [make("dt", {}, name.replace(/[A-Z]/g, (c) => " " + c.toLowerCase())), make("dd", {}, count.toLocaleString("en"))]));
}
at("origin").textContent = location.origin;
await refresh();
let pressed = false;
for (const type of ["pointerdown", "pointerup", "pointercancel"]) addEventListener(type, () => { pressed = type === "pointerdown"; });
setInterval(() => { if (!document.hidden && !pressed) refresh(); }, 1000);
`;

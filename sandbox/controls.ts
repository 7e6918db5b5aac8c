import { Hono } from "hono";
import { isOneOf, isRecord, jsonRecord } from "../core/guards.ts";
import { WEBHOOK_TYPES } from "../core/webhook_event/webhook_event.ts";
import { answer, escapeHtml, htmlPage } from "./answer.ts";
import { populate } from "./customers.ts";
import { BAD_DAY, FAULT_RATES } from "./faults.ts";
import { nextSteps } from "./orders_and_users.ts";
import type { Service } from "./service.ts";
import {
  DISABLE_RULES,
  type DisableRule,
  type OrderStep,
  type PopulateOptions,
  type UserStep,
} from "./sandbox.ts";

type Fields = Readonly<Record<string, unknown>>;

const isText = (value: unknown) => typeof value === "string";
const isNumber = (value: unknown) => typeof value === "number";
const isSwitch = (value: unknown) => typeof value === "boolean";

/** What a parameter may be: words for it, its check, and its field of a form. */
const KINDS = {
  text: ["a string", isText, ""],
  url: ["an http address, or null", isAddress, 'type="url"'],
  number: ["a number", isNumber, 'type="number"'],
  rate: ["a number", isNumber, 'type="range" min="0" max="1" step="0.01"'],
  switch: ["a boolean", isSwitch, 'type="checkbox"'],
  object: ["an object", isRecord, `placeholder='{"order":{"base":"BTC"}}'`],
  list: ["a list", Array.isArray, ""],
} as const;

function isAddress(value: unknown): boolean {
  return /^(https?:.*|null|)$/.test(String(value));
}

/** A kind by its name, or a list of every value. */
type Kind = keyof typeof KINDS | readonly string[];

/** One thing that a person or a program can do to the sandbox. */
interface Control {
  readonly help: string;
  readonly parameters: Readonly<Record<string, Kind>>;
  readonly run: (service: Service, fields: Fields, id: string) => unknown;
  /** The parameters that the page's form has. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Its buttons, and what each sends beside the fields of the form. */
  readonly buttons?: Readonly<Record<string, Fields>>;
}

function each<Value>(value: Value, names: string): Record<string, Value> {
  return Object.fromEntries(names.split(" ").map((name) => [name, value]));
}

const ORDER = each<Kind>(
  "text",
  "clickId sessionId userId cardId currency currencyAmount commodity network " +
    "cryptoType cryptoAmount address status failReason errorText txId",
);

const USER: Readonly<Record<string, Kind>> = {
  ...each("text", "country phone phoneCountry lkyc fkyc"),
  banned: "switch",
};

/** Most milliseconds that one request moves the clock. */
const MOST_MS = 366 * 86_400_000;

/** Every control: the routes, their parameters, and the page's forms. */
const CONTROLS: Readonly<Record<string, Control>> = {
  "PATCH /delivery": {
    help: "Sets where webhooks go, and when failures switch delivery off",
    parameters: {
      webhookUrl: "url",
      disableRule: DISABLE_RULES,
      enabled: "switch",
    },
    labels: {
      webhookUrl: "Webhook address",
      disableRule: "Delivery is switched off by",
    },
    run: (service, { webhookUrl, disableRule, enabled }) => {
      if (webhookUrl !== undefined) {
        service.setWebhookUrl(webhookUrl ? String(webhookUrl) : null);
      }
      if (disableRule !== undefined) {
        service.setDisableRule(disableRule as DisableRule);
      }
      if (enabled === true) service.enableDelivery();
      return service.delivery;
    },
    buttons: { "Switch on again": { enabled: true } },
  },
  "POST /test": {
    help: "Sends one event at once, even while delivery is off",
    parameters: {},
    run: (service) => service.pressTest(),
    buttons: { Test: {} },
  },
  "POST /clock": {
    help: "Moves the clock ahead, timer by timer",
    parameters: { advanceMs: "number" },
    run: async ({ clock }, { advanceMs = 0 }) => {
      const ms = Number(advanceMs);
      if (!(ms >= 0 && ms <= MOST_MS)) {
        throw new RangeError(
          `Cannot advance the clock: advanceMs must be from 0 to ${MOST_MS}, ` +
            `got ${ms}`,
        );
      }
      await clock.advance(ms);
      return { nowMs: clock.now() };
    },
    buttons: {
      "+5 min": { advanceMs: 300_000 },
      "+1 h": { advanceMs: 3_600_000 },
      "+15 h": { advanceMs: 54_000_000 },
    },
  },
  "POST /orders": {
    help: "Creates an order, without a webhook",
    parameters: ORDER,
    run: (service, fields) => service.createOrder(fields),
    buttons: { "Create an order": {} },
  },
  "POST /populate": {
    help: "Simulates customers who buy for a while",
    parameters: {
      ...each("number", "orders spanMs stepMs"),
      openShare: "rate",
    },
    run: (service, fields) => {
      const options = fields as unknown as PopulateOptions;
      const { orders } = options;
      if (!(orders > 0 && orders <= 100_000)) {
        throw new RangeError(
          `Cannot populate: orders must be from 1 to 100000, got ${orders}`,
        );
      }
      void service.run(populate(service, options));
      return { started: orders };
    },
    buttons: {
      "20 orders in 20 seconds": { orders: 20, spanMs: 20_000, stepMs: 1_500 },
    },
  },
  "POST /events": {
    help: "Sends an event although nothing happened: this is how a lie looks",
    parameters: { ...each("text", "type orderId userId"), fields: "object" },
    labels: {
      ...{ type: "Type", orderId: "About order" },
      fields: "Fields to set, as JSON",
    },
    run: (service, { type, ...about }) => {
      if (typeof type !== "string") {
        throw new TypeError("Cannot trigger an event: type is missing");
      }
      service.trigger({ type, ...about });
      return { sent: true };
    },
    buttons: { Send: {} },
  },
  "PATCH /faults": {
    help: "Sets what goes wrong, and how often",
    parameters: {
      ...each("rate", Object.keys(FAULT_RATES).join(" ")),
      endpointDown: "switch",
      clockSkewMs: "number",
      endpointDownSpans: "list",
    },
    labels: {
      ...Object.fromEntries(
        Object.entries(FAULT_RATES).map(([name, [label]]) => [name, label]),
      ),
      endpointDown: "Endpoint down",
      clockSkewMs: "Clock ahead by ms",
    },
    run: (service, fields) => {
      service.setFaults(fields);
      return service.faults;
    },
    buttons: { "Bad day": BAD_DAY },
  },
  "DELETE /faults": {
    help: "Switches every fault off",
    parameters: {},
    run: (service) => {
      service.heal();
      return service.faults;
    },
    buttons: { "All off": {} },
  },
  "POST /orders/:id/steps": {
    help: "Lets an order take a step, and sends the webhook of it",
    parameters: each("text", "step txId failReason errorText"),
    run: (service, { step, ...facts }, id) =>
      service.advance(id, step as OrderStep, facts),
  },
  "PATCH /orders/:id": {
    help: "Rewrites an order as no step would, without a webhook",
    parameters: ORDER,
    run: (service, fields, id) => service.amendOrder(id, fields),
  },
  "DELETE /orders/:id": {
    help: "Removes an order, so that no answer shows it any more",
    parameters: {},
    run: (service, _fields, id) => {
      service.removeOrder(id);
      return { removed: id };
    },
  },
  "POST /users": {
    help: "Creates a user, without a webhook",
    parameters: USER,
    run: (service, fields) => service.createUser(fields),
  },
  "POST /users/:id/steps": {
    help: "Lets a user take a step, and sends the webhook of it",
    parameters: { step: "text" },
    run: (service, { step }, id) => service.advanceUser(id, step as UserStep),
  },
  "PATCH /users/:id": {
    help: "Rewrites a user, without a webhook",
    parameters: USER,
    run: (service, fields, id) => service.amendUser(id, fields),
  },
};

/** What can be read: everything of a kind, or one of them by its id. */
const READS: Readonly<
  Record<string, (service: Service, id: string) => unknown>
> = {
  state: controlState,
  truth: (service) => service.truth(),
  counters: (service) => service.counters,
  deliveries: (service) => service.deliveries(),
  faults: (service) => service.faults,
  orders: (service) => service.orders(),
  users: (service) => service.users(),
  "orders/:id": (service, id) => service.order(id),
  "sessions/:id": ({ sessions }, id) => sessions.get(id),
};

/** The control API and its page, under /control. */
export function controlRoutes(service: Service): Hono {
  const app = new Hono();
  app.use(async (context, next) => {
    const { method, url, headers } = context.req.raw;
    // A page of another origin must not control a sandbox on this machine.
    const origin = headers.get("origin");
    if (method !== "GET" && origin !== null && origin !== new URL(url).origin) {
      return answer(403, { error: "Cross-origin control is refused" });
    }
    return await next();
  });
  app.onError((error) =>
    answer(
      error instanceof TypeError || error instanceof RangeError ? 400 : 500,
      { error: error.message },
    )
  );
  app.get("/", () => controlPage(service.partnerId));
  app.get("/widget", () => {
    const options = new URLSearchParams({
      session_id: service.sessions.create().sessionId,
      click_id: service.factory.uuid(),
    });
    const location = `/${service.partnerId}/widget?${options}`;
    return answer(302, {}, { location, "cache-control": "no-store" });
  });
  for (const [path, read] of Object.entries(READS)) {
    app.get(`/${path}`, (context) => {
      const found = read(service, context.req.param("id") ?? "");
      if (found !== null) return reply(found);
      const [kind] = path.split("s/");
      return answer(404, { error: `No such ${kind}` });
    });
  }
  for (const [place, { parameters, run }] of Object.entries(CONTROLS)) {
    const [method = "", path = ""] = place.split(" ");
    app.on(method, path, async (context) => {
      const fields = readFields(await context.req.text(), parameters);
      return reply(await run(service, fields, context.req.param("id") ?? ""));
    });
  }
  return app;
}

/** The fields of a body; throws unless each is a parameter of its kind. */
function readFields(text: string, parameters: Control["parameters"]): Fields {
  const refuse = (why: string): never => {
    throw new TypeError(`Cannot read the request: ${why}`);
  };
  const fields = text === "" ? {} : jsonRecord(text);
  if (fields === null) return refuse("its body is not a JSON object");
  for (const [name, value] of Object.entries(fields)) {
    const kind = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
    if (kind === undefined) {
      const names = Object.keys(parameters).join(", ") || "none";
      return refuse(`field "${name}" is not one of ${names}`);
    }
    const isListed = typeof kind !== "string";
    const what = isListed ? `one of ${kind.join(", ")}` : KINDS[kind][0];
    if (isListed ? isOneOf(kind, value) : KINDS[kind][1](value)) continue;
    refuse(`${name} must be ${what}, got ${JSON.stringify(value)}`);
  }
  return fields;
}

/** A JSON answer. Cents are big integers, so they are written as text. */
function reply(value: unknown): Response {
  const json = JSON.stringify(
    value,
    (_name, inner) => typeof inner === "bigint" ? String(inner) : inner,
  );
  const headers = {
    "content-type": "application/json",
    "cache-control": "no-store",
  };
  return new Response(json, { headers });
}

/** How many rows a list of the state holds. */
const MOST_ROWS = 50;

/** Everything that the control page shows. */
function controlState(service: Service): Record<string, unknown> {
  const { clock, delivery, faults, counters, partnerId } = service;
  const orders = service.orders();
  return {
    partnerId,
    nowMs: clock.now(),
    movedMs: "movedMs" in clock ? clock.movedMs : 0,
    ...{ delivery, faults, counters },
    orderCount: orders.length,
    userCount: service.userStore.size,
    orders: orders.slice(-MOST_ROWS).reverse().map((order) => ({
      ...order,
      nextSteps: nextSteps(order),
    })),
    deliveries: service.deliveries(MOST_ROWS).reverse(),
  };
}

/** The page from which a person controls the sandbox: a form of each control. */
function controlPage(partnerId: string): Response {
  const forms = Object.entries(CONTROLS).map(([place, control]) => {
    const { help, parameters, labels = {}, buttons = {} } = control;
    const fields = Object.entries(labels).map(([name, label]) =>
      fieldOf(name, parameters[name] ?? "text", escapeHtml(label))
    );
    const pressed = Object.entries(buttons).map(([label, sent]) =>
      `<button value="${escapeHtml(JSON.stringify(sent))}">${label}</button> `
    );
    return pressed.length === 0
      ? ""
      : `<form data-place="${place}"><p>${escapeHtml(help)}</p>${
        fields.join("")
      }${pressed.join("")}<output></output></form>`;
  });
  const list = (id: string, heads: string) =>
    `<section><h2>${id}</h2> <span id="${id}Count"></span>
<div class="scroll" tabindex="0" role="region" aria-label="${id}"><table><thead><tr><th>${
      heads.replaceAll("|", "</th><th>")
    }</th></tr></thead><tbody id="${id}"></tbody></table></div></section>`;
  return htmlPage({
    ...{ title: "Rampkit sandbox", style: STYLE, script: SCRIPT, data: null },
    frameAncestors: "'none'",
    body: `<header><h1>Rampkit sandbox</h1><p>The service in a box, at
<code id="origin"></code> for your client, with the key it printed. Partner <code>${
      escapeHtml(partnerId)
    }</code>. <a href="/control/widget" target="_blank" rel="noopener">Buy in the widget</a></p>
<p>Sandbox time <b id="clock"></b> <span id="moved" role="status"></span></p>
<p id="delivery" role="status"></p></header>
<main><div>${list("Orders", "Order|Status|Next step|Amount|Asset|Changed")}
${list("Webhooks", "#|Type|State|About|Why|Answers")}
<section><h2>Counted</h2><pre id="counters"></pre></section></div>
<section>${forms.join("")}</section></main>
<datalist id="types">${
      Object.keys(WEBHOOK_TYPES).map((type) => `<option>${type}`).join("")
    }</datalist><datalist id="orderIds"></datalist>
<div id="problem" role="alert" hidden><span></span> <button>Close</button></div>
<p id="gone" role="status" hidden>The sandbox does not answer; this page shows its last state.</p>`,
  });
}

/** The field of a parameter in a form. */
function fieldOf(name: string, kind: Kind, label: string): string {
  const named = `name="${name}" data-kind="${kind}"`;
  const input = typeof kind === "string"
    ? `<input ${named} list="${name}s" ${KINDS[kind][2]}>`
    : `<select ${named}>${
      kind.map((one) => `<option>${one}`).join("")
    }</select>`;
  return `<label class="${kind}"><span>${label}</span>${input}${
    kind === "rate" ? "<output></output>" : ""
  }</label>`;
}

/** The look of the page, light or dark as the reader has it. */
const STYLE = `
:root { color-scheme: light dark; --soft: light-dark(#5b6572, #97a3b1); --line: light-dark(#dfe4ea, #2c343e); }
:root { --good: light-dark(#14733b, #6fd39b); --bad: light-dark(#b3261e, #ff8f85); --warn: light-dark(#8a5a00, #f2bd5c); }
* { box-sizing: border-box; } [hidden] { display: none !important; }
body { margin: 0; padding: 12px 24px; font: 14px/1.45 system-ui, sans-serif; }
h1 { font-size: 20px; margin: 0; } h2 { font-size: 15px; display: inline; } header p, form p { margin: 4px 0; color: var(--soft); }
#delivery, output { min-height: 1.45em; } form > output { display: block; min-height: 2.9em; }
main { display: grid; grid-template-columns: minmax(0, 1fr) 340px; gap: 20px; align-items: start; }
@media (max-width: 980px) { main { grid-template-columns: minmax(0, 1fr); } }
section { border: 1px solid var(--line); border-radius: 14px; padding: 16px; margin-bottom: 20px; }
/* A height of its own, so that nothing below moves while rows come. */
.scroll { overflow: auto; height: 42vh; min-height: 260px; margin-top: 12px; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: 7px 14px 7px 0; border-bottom: 1px solid var(--line); }
th { color: var(--soft); position: sticky; top: 0; background: Canvas; } pre { white-space: pre-wrap; overflow-wrap: anywhere; }
button { font: inherit; margin: 1px; } :focus-visible { outline: 2px solid; }
.pill { border-radius: 99px; padding: 1px 10px; font-weight: 600; border: 1px solid; }
.good { color: var(--good); } .bad { color: var(--bad); } .warn { color: var(--warn); }
label { display: block; margin: 6px 0; } input, select { font: inherit; width: 100%; }
.rate, .switch { display: grid; grid-template-columns: 1fr 84px 48px; } .on output { color: var(--bad); font-weight: 600; }
#gone, #problem { position: fixed; inset: auto 16px 16px; padding: 10px 14px; color: Canvas; background: var(--bad); }
`;

/** It shows the state of the sandbox, and sends what the forms say. */
const SCRIPT = `
const at = (id) => document.getElementById(id);
const MOOD = {
  success: "good", received: "good", failed: "bad", cancelled: "bad", dropped: "bad", notSent: "bad", pending: "warn", progress: "warn",
};
const WORDS = { notSent: "not sent", life: "it happened", triggered: "by hand", test: "Test button", unknownType: "unknown type" };
const time = (ms) => new Date(ms).toISOString().slice(11, 19);
const plural = (count, word) => count + " " + word + (count === 1 ? "" : "s");
function make(tag, props = {}, ...children) {
  const element = Object.assign(document.createElement(tag), props);
  element.append(...children);
  return element;
}
const pill = (text) => make("span", { className: "pill " + (MOOD[text] ?? "") }, WORDS[text] ?? text);
const row = (...cells) => make("tr", {}, ...cells.map((content) => make("td", {}, ...[content].flat())));
const wide = (...content) => make("tr", {}, make("td", { colSpan: 6 }, ...content));
function button(key, text, ariaLabel, onclick) {
  const made = make("button", { ariaLabel, onclick }, text);
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
function valueOf({ name, value, checked, dataset: { kind } }) {
  if (kind === "switch") return checked;
  if (kind === "rate" || kind === "number") return Number(value);
  if (kind !== "object") return value;
  try {
    return JSON.parse(value);
  } catch (error) {
    throw new Error(name + " is not JSON: " + error.message);
  }
}
const filled = (form) => Object.fromEntries([...form.elements]
  .filter((input) => input.name && input.value.trim() !== "").map((input) => [input.name, valueOf(input)]));
for (const form of document.forms) {
  const { place } = form.dataset;
  const isChange = place.startsWith("PATCH");
  const output = form.lastChild;
  form.onsubmit = (event) => event.preventDefault();
  // What was chosen is read at once: an answer may show the state before it.
  form.onchange = ({ target }) => {
    const fields = { [target.name]: isChange && valueOf(target) };
    if (isChange) send(place, () => fields);
  };
  form.oninput = ({ target }) => target.type === "range" && sayRate(target);
  for (const one of form.querySelectorAll("button")) {
    one.onclick = () => send(place, () => ({ ...(!isChange && filled(form)), ...JSON.parse(one.value) }), ({ state, attempts }) => {
      output.textContent = !attempts ? "Done." : attempts.length === 0 ? "Not sent: enter a webhook address first."
        : (WORDS[state] ?? state) + ": " + seen(attempts[0]) + ".";
    });
  }
}
function sayRate(input) {
  const text = input.value > 0 ? Math.round(input.value * 100) + " %" : "off";
  input.setAttribute("aria-valuetext", text);
  input.nextSibling.textContent = text;
}
function showForm(place, values) {
  for (const input of document.querySelectorAll('[data-place="' + place + '"] [name]')) {
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
  body.replaceChildren(...(rows.length ? rows : [wide(empty)]));
  if (!focused) return;
  const buttons = [...body.querySelectorAll("[data-key]")];
  const next = buttons.find((one) => one.dataset.key === focused) ??
    buttons.find((one) => one.dataset.key.startsWith(focused.split(" ")[0] + " ")) ?? body.closest(".scroll");
  next.focus({ preventScroll: true });
}
function showOrders({ orders, orderCount, userCount }) {
  say("OrdersCount", plural(orderCount, "order") + ", " + plural(userCount, "user"));
  at("orderIds").replaceChildren(...orders.map((order) => new Option(order.externalOrderId + " " + order.status, order.orderId)));
  fill(at("Orders"), orders.map((order) => {
    const { orderId, externalOrderId: name } = order;
    const steps = order.nextSteps.map((step) => button(orderId + " " + step, step, step + " order " + name,
      () => send("POST /orders/" + encodeURIComponent(orderId) + "/steps", () => ({ step }))));
    return row(name, pill(order.status), steps, order.currencyAmount + " " + order.currency,
      order.cryptoAmount + " " + order.commodity + " on " + order.network, time(order.changedAtMs));
  }), "No orders yet. Create one and press its next steps, or buy something in the widget.");
}
function seen({ status, tookMs, copy, truth: { reached, answered } }) {
  const really = !reached ? ", for the request never arrived" : answered === null ? " within 5 s, or refused"
    : answered === status ? "" : ", but the endpoint answered " + answered + ", lost or too late";
  return (status === 0 ? "no answer" : "your endpoint answered " + status + " in " + tookMs + " ms") + really + (copy ? ", to a copy" : "");
}
function details({ body, attempts }) {
  let text = body;
  try { text = JSON.stringify(JSON.parse(body), null, 2); } catch { /* shown as it was sent */ }
  return wide(make("pre", {}, [...attempts.map((attempt) => time(attempt.atMs) + " " + seen(attempt)), text].join("\\n")));
}
const opened = new Set();
function showWebhooks(state) {
  say("WebhooksCount", plural(state.counters.attempts, "attempt"));
  const names = new Map(state.orders.map((order) => [order.orderId, order.externalOrderId]));
  fill(at("Webhooks"), state.deliveries.flatMap((delivery) => {
    const { number, type, orderId, userId, cause, nextAttemptMs } = delivery;
    const toggle = button(number + " open", type, type + ", what was sent and answered", () => {
      if (!opened.delete(number)) opened.add(number);
      showWebhooks(state);
    });
    toggle.ariaExpanded = String(opened.has(number));
    const answers = [...delivery.attempts.map(({ status }) => status || "no answer"), nextAttemptMs && "again at " + time(nextAttemptMs)];
    const shown = row(String(number), toggle, pill(delivery.state), names.get(orderId) ?? "user …" + String(userId).slice(-4),
      WORDS[cause] ?? cause, answers.filter(Boolean).join(", "));
    return opened.has(number) ? [shown, details(delivery)] : [shown];
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
let shown = "";
async function refresh() {
  const state = await call("GET", "/state").catch(() => null);
  at("gone").hidden = state !== null;
  if (!state) return;
  const { nowMs, movedMs, delivery, counters } = state;
  say("clock", new Date(nowMs).toISOString().replace("T", " ").slice(0, 19) + " UTC");
  say("moved", movedMs > 0 ? span(movedMs) + " ahead of your programs' clocks" : "");
  say("delivery", wordsOf(state));
  showForm("PATCH /delivery", delivery);
  showForm("PATCH /faults", state.faults);
  say("counters", Object.entries(counters).filter(([, count]) => count > 0).map(([name, count]) => name + " " + count).join("\\n"));
  // The lists are rebuilt only when they changed.
  const lists = JSON.stringify([state.orders, state.orderCount, state.userCount, state.deliveries]);
  if (shown === lists) return;
  shown = lists;
  showOrders(state);
  showWebhooks(state);
}
at("origin").textContent = location.origin;
await refresh();
let pressed = false;
for (const type of ["pointerdown", "pointerup", "pointercancel"]) addEventListener(type, () => { pressed = type === "pointerdown"; });
setInterval(() => { if (!document.hidden && !pressed) refresh(); }, 1000);
`;

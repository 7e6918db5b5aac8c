import { BAD_DAY } from "./faults.ts";

/** What the control page does: it shows the state, and asks for changes. */
export const CONTROL_SCRIPT = `
const at = (id) => document.getElementById(id);
const BAD_DAY = ${JSON.stringify(BAD_DAY)};
const TITLES = {
  drop: "Webhook dropped", duplicate: "Webhook twice", delay: "Webhook late",
  reorder: "Webhook overtaken", forge: "Webhook forged", unknownType: "Unknown type",
  malformed: "Body cut short", answerLost: "Our 2xx lost", requestLost: "Request lost",
  endpointDown: "Endpoint down", apiTooManyRequests: "API 429", apiServerError: "API 5xx",
  apiTimeout: "API timeout", apiSlowBody: "API body slow", pageInsert: "Row inserted",
  pageChange: "Row changed", pageShort: "Page cut short", sameSecond: "Same created_at",
  totalWrong: "Total wrong", totalMissing: "Total missing",
  clockSkewMs: "Clock 10 min ahead",
};
const MOOD = {
  success: "good", received: "good", enabled: "good", failed: "bad", cancelled: "bad",
  disabled: "bad", dropped: "bad", notSent: "bad", pending: "warn", progress: "warn", retrying: "warn",
};

async function call(method, path, body) {
  const response = await fetch("/control" + path, {
    method,
    ...(body !== undefined && {
      headers: { "content-type": "application/json" }, body: JSON.stringify(body),
    }),
  });
  const answer = await response.json();
  if (method !== "GET") at("problem").hidden = response.ok;
  if (!response.ok) {
    at("problem").hidden = false;
    at("problem").textContent = answer.error;
    throw new Error(answer.error);
  }
  return answer;
}
const then = (method, path, body) => call(method, path, body).then(refresh, () => {});

function make(tag, props = {}, ...children) {
  const element = Object.assign(document.createElement(tag), props);
  element.append(...children);
  return element;
}
const pill = (text) => make("span", { className: "pill " + (MOOD[text] ?? "soft") }, text);
const cell = (content, className = "") => make("td", { className, title: typeof content === "string" ? content : "" }, content);
const time = (ms) => new Date(ms).toISOString().slice(11, 19);
function fill(body, rows, columns, empty) {
  body.replaceChildren(...(rows.length ? rows : [make("tr", {},
    make("td", { colSpan: columns, className: "empty" }, empty))]));
}

function showOrders(state) {
  at("orderCount").textContent = state.orderCount + " in all, " + state.userCount + " users";
  fill(at("orders"), state.orders.map((order) => {
    const next = make("td");
    for (const step of order.nextSteps) {
      next.append(make("button", {
        onclick: () => then("POST", "/orders/" + order.orderId + "/steps", { step }),
      }, step));
    }
    return make("tr", {},
      make("td", { className: "mono", title: order.orderId }, order.externalOrderId),
      cell(pill(order.status)),
      cell(order.currencyAmount + " " + order.currency, "num"),
      cell(order.cryptoAmount + " " + order.commodity, "num"),
      cell(time(order.changedAtMs)), next);
  }), 6, "No orders yet. Create one, then let it take its steps.");
}
function offerOrders({ orders }) {
  const select = at("event").orderId;
  const { value } = select;
  select.replaceChildren(new Option("none", ""), ...orders.map((order) =>
    new Option(order.externalOrderId + " " + order.status, order.orderId)));
  select.value = value;
}
function showDeliveries(state) {
  at("eventCount").textContent = state.counters.attempts + " attempts";
  const names = new Map(state.orders.map((order) => [order.orderId, order.externalOrderId]));
  fill(at("deliveries"), state.deliveries.map((delivery) => {
    const last = delivery.attempts.at(-1);
    const next = delivery.nextAttemptMs ? ", next " + time(delivery.nextAttemptMs) : "";
    const attempts = delivery.attempts.map((one) => one.status).join(" → ") +
      (last ? " in " + last.tookMs + " ms" : "") + next;
    return make("tr", {},
      cell(String(delivery.number), "num"),
      make("td", { title: delivery.body }, delivery.type),
      cell(names.get(delivery.orderId) ?? (delivery.userId ? "user …" + delivery.userId.slice(-4) : "–"), "mono"),
      cell(delivery.cause), cell(attempts || "–"), cell(pill(delivery.state)));
  }), 6, "Nothing sent yet. Set a webhook address and press Test.");
}
function showDelivery({ delivery }) {
  at("deliveryState").className = "pill " + (delivery.webhookUrl ? MOOD[delivery.state] : "soft");
  at("deliveryState").textContent = delivery.webhookUrl ? delivery.state : "no address";
  at("enable").hidden = delivery.state !== "disabled";
  const form = at("delivery");
  if (!form.contains(document.activeElement) && !form.dataset.dirty) {
    form.webhookUrl.value = delivery.webhookUrl ?? "";
    form.disableRule.value = delivery.disableRule;
  }
}
function showFaults({ faults }) {
  const box = at("faults");
  for (const [name, title] of Object.entries(TITLES)) {
    const value = faults[name];
    const isSkew = name === "clockSkewMs";
    const isRate = typeof value === "number" && !isSkew;
    const read = (input) => isRate ? Number(input.value) : isSkew ? (input.checked ? 600000 : 0) : input.checked;
    let label = box.querySelector("[data-name=" + name + "]");
    if (!label) {
      const input = make("input", isRate
        ? { type: "range", min: 0, max: 1, step: 0.01 }
        : { type: "checkbox" });
      input.onchange = () => then("PATCH", "/faults", { [name]: read(input) });
      label = make("label", { className: "fault" }, title, input, ...(isRate ? [make("output")] : []));
      label.dataset.name = name;
      if (isRate) input.oninput = () => { label.querySelector("output").textContent = Math.round(input.value * 100) + " %"; };
      box.append(label);
    }
    label.classList.toggle("on", value !== 0 && value !== false);
    const input = label.querySelector("input");
    if (document.activeElement === input) continue;
    if (isRate) {
      input.value = value;
      label.querySelector("output").textContent = value ? Math.round(value * 100) + " %" : "off";
    } else input.checked = Boolean(value);
  }
}
function showCounters({ counters }) {
  at("counters").replaceChildren(...Object.entries(counters)
    .filter(([, count]) => count > 0)
    .flatMap(([name, count]) => [
      make("dt", {}, name.replace(/[A-Z]/g, (c) => " " + c.toLowerCase())),
      make("dd", {}, count.toLocaleString("en")),
    ]));
}
// A list is rebuilt only when it changed, so that focus stays where it is.
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
  at("clock").textContent = new Date(state.nowMs).toISOString().replace("T", " ").slice(0, 19) + " UTC";
  at("skip").hidden = !state.virtualClock;
  if (changed("orders", state.orders)) {
    showOrders(state);
    if (document.activeElement !== at("event").orderId) offerOrders(state);
  }
  if (changed("deliveries", state.deliveries)) showDeliveries(state);
  showDelivery(state);
  showFaults(state);
  if (changed("counters", state.counters)) showCounters(state);
}

at("create").onclick = () => then("POST", "/orders", {});
at("populate").onclick = () => then("POST", "/populate", { orders: 20, spanMs: 20000, stepMs: 1500 });
at("heal").onclick = () => then("DELETE", "/faults");
at("badDay").onclick = () => then("PATCH", "/faults", BAD_DAY);
at("enable").onclick = () => then("PATCH", "/delivery", { enabled: true });
at("test").onclick = async () => {
  const { state, attempts: [attempt] } = await call("POST", "/test", {});
  at("testResult").textContent = attempt
    ? "Test " + state + ": status " + attempt.status + " in " + attempt.tookMs + " ms"
    : "Test not sent: set a webhook address first";
  refresh();
};
at("delivery").oninput = () => { at("delivery").dataset.dirty = "1"; };
at("delivery").onsubmit = async (event) => {
  event.preventDefault();
  const { webhookUrl, disableRule } = at("delivery");
  await then("PATCH", "/delivery", { webhookUrl: webhookUrl.value || null, disableRule: disableRule.value });
  delete at("delivery").dataset.dirty;
};
at("event").onsubmit = async (event) => {
  event.preventDefault();
  const { type, orderId, fields } = at("event");
  let set = {};
  try {
    if (fields.value.trim()) set = JSON.parse(fields.value);
  } catch (error) {
    at("problem").hidden = false;
    at("problem").textContent = "The fields are no JSON: " + error.message;
    return;
  }
  await then("POST", "/events", {
    type: type.value, fields: set, ...(orderId.value && { orderId: orderId.value }),
  });
};
for (const button of document.querySelectorAll("[data-skip]")) {
  button.onclick = () => then("POST", "/clock", { advanceMs: Number(button.dataset.skip) });
}
await refresh();
let pressed = false;
addEventListener("pointerdown", () => { pressed = true; });
addEventListener("pointerup", () => { pressed = false; });
setInterval(() => { if (!document.hidden && !pressed) refresh(); }, 1000);
`;

/** The control page's script: it shows the state and sends changes. */
export const CONTROL_SCRIPT = `
function complain(message) {
  at("problem").hidden = message === null;
  at("problem").querySelector("span").textContent = message ?? "";
}
async function call(method, path, body) {
  const response = await fetch("/control" + path, {
    method,
    ...(body !== undefined && {
      headers: { "content-type": "application/json" }, body: JSON.stringify(body),
    }),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}
/** Sends a change and shows the result; null when it was refused. */
async function then(method, path, body) {
  let answer = null;
  try {
    answer = await call(method, path, body);
    complain(null);
  } catch (error) {
    complain(error.message);
  }
  await refresh();
  return answer;
}

function span(ms) {
  const minutes = Math.round(ms / 60000);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  const parts = [days && days + " d", hours % 24 && hours % 24 + " h", minutes % 60 && minutes % 60 + " min"];
  return parts.filter(Boolean).join(" ") || "under a minute";
}
function wordsOf({ delivery, deliveries, nowMs }) {
  if (!delivery.webhookUrl) return "Webhooks go nowhere. Enter where your endpoint listens, then press Test.";
  if (delivery.state === "disabled") {
    return "Off since " + time(delivery.disabledSinceMs) +
      ": what happens now is never told, until a person switches it on again.";
  }
  const waiting = deliveries.filter((one) => one.nextAttemptMs !== null);
  if (waiting.length === 0) return "Webhooks go out as things happen.";
  const next = Math.min(...waiting.map((one) => one.nextAttemptMs));
  return plural(waiting.length, "webhook") + " to be sent again, the next at " + time(next) +
    ", in " + span(next - nowMs) + ". Move the clock to see it.";
}
function showDelivery(state) {
  const { delivery } = state;
  at("deliveryState").className = "pill " + (delivery.webhookUrl ? MOOD[delivery.state] : "soft");
  at("deliveryState").textContent = delivery.webhookUrl ? delivery.state : "no address";
  const words = wordsOf(state);
  if (at("deliveryWords").textContent !== words) at("deliveryWords").textContent = words;
  at("enable").hidden = delivery.state !== "disabled";
  const form = at("delivery");
  if (!form.contains(document.activeElement) && !form.dataset.dirty) {
    form.webhookUrl.value = delivery.webhookUrl ?? "";
    form.disableRule.value = delivery.disableRule;
  }
}
function showClock(state) {
  at("clock").textContent = new Date(state.nowMs).toISOString().replace("T", " ").slice(0, 19) + " UTC";
  at("skip").hidden = !state.movable;
  if (moving > 0) return;
  const moved = state.movedMs > 0 ? span(state.movedMs) + " ahead of your programs' clocks" : "";
  if (at("moved").textContent !== moved) at("moved").textContent = moved;
}
function showCounters({ counters }) {
  at("counters").replaceChildren(...Object.entries(counters)
    .filter(([, count]) => count > 0)
    .flatMap(([name, count]) => [
      make("dt", {}, name.replace(/[A-Z]/g, (c) => " " + c.toLowerCase())),
      make("dd", {}, count.toLocaleString("en")),
    ]));
}
// A list is rebuilt only when it changed.
const shown = new Map();
function changed(name, value) {
  const json = JSON.stringify(value);
  const differs = shown.get(name) !== json;
  shown.set(name, json);
  return differs;
}
let latest = null;
let moving = 0;
async function refresh() {
  const state = await call("GET", "/state").catch(() => null);
  at("gone").hidden = state !== null;
  if (!state) return;
  latest = state;
  showClock(state);
  const ordersChanged = changed("orders", [state.orders, state.orderCount, state.userCount]);
  if (ordersChanged) showOrders(state);
  if (ordersChanged && document.activeElement !== at("event").orderId) offerOrders(state);
  if (changed("deliveries", state.deliveries) || ordersChanged) showDeliveries(state);
  showDelivery(state);
  showFaults(state);
  if (changed("counters", state.counters)) showCounters(state);
}

async function saveDelivery() {
  const { webhookUrl, disableRule } = at("delivery");
  if (!at("delivery").reportValidity()) return false;
  const saved = await then("PATCH", "/delivery", { webhookUrl: webhookUrl.value || null, disableRule: disableRule.value });
  if (saved !== null) delete at("delivery").dataset.dirty;
  return saved !== null;
}
at("origin").textContent = location.origin;
at("problem").querySelector("button").onclick = () => complain(null);
at("create").onclick = () => then("POST", "/orders", {});
at("populate").onclick = () => then("POST", "/populate", { orders: 20, spanMs: 20000, stepMs: 1500 });
at("heal").onclick = () => then("DELETE", "/faults");
at("badDay").onclick = () => then("PATCH", "/faults", BAD_DAY);
at("enable").onclick = async () => {
  await then("PATCH", "/delivery", { enabled: true });
  at("test").focus();
};
at("delivery").oninput = () => { at("delivery").dataset.dirty = "1"; };
at("delivery").onsubmit = (event) => {
  event.preventDefault();
  saveDelivery();
};
at("test").onclick = async () => {
  // Test what was typed, so save it first.
  if (at("delivery").dataset.dirty && !await saveDelivery()) return;
  const tested = await then("POST", "/test", {});
  if (tested === null) return;
  const [attempt] = tested.attempts;
  at("testResult").textContent = !attempt
    ? "Not sent: enter a webhook address first."
    : attempt.status === 0
    ? "Failed: " + (truthOf(attempt) || "no answer") + "."
    : (tested.state === "received" ? "Received" : "Failed") + ": your endpoint answered " +
      attempt.status + " in " + attempt.tookMs + " ms.";
};
at("event").onsubmit = async (event) => {
  event.preventDefault();
  const { type, orderId, fields } = at("event");
  let set = {};
  try {
    if (fields.value.trim()) set = JSON.parse(fields.value);
  } catch (error) {
    complain("The fields to set are not JSON: " + error.message);
    fields.focus();
    return;
  }
  const sent = await then("POST", "/events", {
    type: type.value, fields: set, ...(orderId.value && { orderId: orderId.value }),
  });
  if (sent !== null) at("eventResult").textContent = "Handed to delivery: " + type.value + ".";
};
for (const skip of document.querySelectorAll("[data-skip]")) {
  skip.onclick = async () => {
    moving++;
    at("moved").textContent = "Moving, answer by answer …";
    await then("POST", "/clock", { advanceMs: Number(skip.dataset.skip) });
    moving--;
    await refresh();
  };
}
await refresh();
let pressed = false;
addEventListener("pointerdown", () => { pressed = true; });
addEventListener("pointerup", () => { pressed = false; });
addEventListener("pointercancel", () => { pressed = false; });
setInterval(() => { if (!document.hidden && !pressed) refresh(); }, 1000);
`;

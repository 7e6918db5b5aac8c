/** How the control page shows orders and webhooks. */
export const CONTROL_LISTS = `
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

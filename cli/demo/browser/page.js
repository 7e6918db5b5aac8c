// What the shop's page does. It reaches the browser as it is; its imports are
// the toolkit's own files, which the server hands out with their types taken
// out.
import { fetchSession } from "../../../widget/session/fetch_session.ts";
import { sdkListeners } from "../../../widget/options/listeners.ts";
import { WidgetOpener } from "../../../widget/session/widget_opener.ts";

const at = (id) => document.getElementById(id);

/** Makes an element; text in it stays text. */
function make(tag, props = {}, ...children) {
  const { data, ...rest } = props;
  const element = Object.assign(document.createElement(tag), rest);
  Object.assign(element.dataset, data);
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** Writes text where it differs, so that nothing is announced twice. */
function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Brings the children of a list up to date and leaves equal ones alone. */
function fill(parent, items, keyOf, render) {
  const old = new Map(
    [...parent.children].map((child) => [child.dataset.key, child]),
  );
  let next = parent.firstElementChild;
  for (const item of items) {
    const key = String(keyOf(item));
    const text = JSON.stringify(item);
    const before = old.get(key);
    old.delete(key);
    let element = before;
    if (before?.dataset.text !== text) {
      element = render(item, before === undefined);
      Object.assign(element.dataset, { key, text });
      if (before === next) next = element;
      before?.replaceWith(element);
    }
    if (element === next) next = element.nextElementSibling;
    else parent.insertBefore(element, next);
  }
  for (const child of old.values()) child.remove();
}

// The shop

const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
const drafts = JSON.parse(at("drafts").textContent);
const buy = at("buy");

const opener = new WidgetOpener({
  Widget: globalThis.WertWidget,
  draft: {
    ...(isDark ? drafts.dark : drafts.light),
    listeners: sdkListeners({
      "payment-status": ({ status }) =>
        say(
          `The window says ${status}: a hint from the browser, and the shop ` +
            "does nothing on it.",
        ),
      error: ({ message }) => say(message, true),
      close: () => {
        buy.disabled = false;
        buy.focus();
      },
    }),
  },
  askSession: ({ signal }) =>
    fetchSession("/session", {
      input: { wallet: at("wallet").value.trim() },
      signal,
    }),
});

buy.onclick = async () => {
  buy.disabled = true;
  say("Asking the shop’s server for a session…");
  try {
    await opener.open();
    say(
      "The window is open, with a session of its own: single use, 30 seconds.",
    );
  } catch (error) {
    buy.disabled = false;
    say(
      error.status === 422
        ? "The shop refused: that is no wallet address."
        : error.message,
      true,
    );
  }
};
buy.disabled = false;

function say(text, isBad = false) {
  at("shopSays").className = isBad ? "bad" : "soft";
  write(at("shopSays"), text);
}

// The forger

async function play(action, body) {
  const response = await fetch(`/play/${action}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body ?? {}),
  });
  if (!response.ok) throw new Error(`The shop answered ${response.status}`);
  return await response.json();
}

function button(id, act) {
  at(id).onclick = async () => {
    try {
      await act();
    } catch (error) {
      at("cheatSays").className = "bad";
      write(at("cheatSays"), error.message);
    }
  };
}
button("unpaid", async () => {
  chosen = (await play("unpaid")).orderId;
});
button("forge", () => play("forge", { orderId: chosen }));
button("leap", () => play("leap"));

function cheating(order, clock) {
  const forged = order?.events.some((event) => event.forged) ?? false;
  const isOpen = ["created", "progress", "pending"].includes(order?.atService);
  at("step1").classList.toggle("done", isOpen);
  at("step2").classList.toggle("done", forged);
  at("forge").disabled = !order;
  const isOver = order?.anomalies.some(({ kind }) => kind === "contradicted") ??
    false;
  at("step3").classList.toggle("done", forged && isOver);
  at("leap").disabled = !forged || clock.factor !== 1;
  const [mood, text] = verdict(order, forged, isOver);
  at("cheatSays").className = mood;
  write(at("cheatSays"), text);
}

function verdict(order, forged, isOver) {
  if (!forged) return ["", ""];
  if (isOver && order.trust === "confirmed") {
    return [
      "good",
      "Caught. The service did not agree for ten minutes, so the claim no " +
      "longer counts, and the order stands out for a person to look at.",
    ];
  }
  if (order.trust === "claimed") {
    return [
      "warn",
      `The order now says ${order.status}, but only claimed: the service, ` +
      "asked again and again, shows something else. The goods stay in the shop.",
    ];
  }
  return [
    "good",
    `Nothing gained: the service itself shows ${order.status}, and no webhook ` +
    "takes that back.",
  ];
}

// The ledger

let chosen = null;
let known = new Set();
let board = null;

function choose(orders) {
  const fresh = orders.filter(({ orderId }) => !known.has(orderId));
  if (fresh.length > 0) chosen = fresh[0].orderId;
  known = new Set(orders.map(({ orderId }) => orderId));
  return orders.find(({ orderId }) => orderId === chosen) ?? orders[0] ?? null;
}

function show() {
  const { orders, ledger, clock } = board;
  const order = choose(orders);
  at("none").hidden = order !== null;
  at("order").hidden = order === null;
  fill(
    at("orders"),
    orders.map(({ orderId, externalOrderId }) => ({
      orderId,
      name: externalOrderId ?? orderId.slice(-6),
      isChosen: orderId === order.orderId,
    })),
    ({ orderId }) => orderId,
    ({ orderId, name, isChosen }) => {
      const tab = make("button", { textContent: name });
      if (isChosen) tab.setAttribute("aria-current", "true");
      tab.onclick = () => {
        chosen = orderId;
        show();
        at("orders").querySelector("[aria-current]")?.focus();
      };
      return tab;
    },
  );
  write(
    at("ledger"),
    `Ledger: ${count(ledger.events, "event")}, evidence ${
      ledger.hash.slice(0, 12)
    }…`,
  );
  cheating(order, clock);
  if (order !== null) showOrder(order);
}

function showOrder(order) {
  Object.assign(at("now").dataset, {
    status: order.status,
    trust: order.trust,
  });
  write(at("status"), order.status);
  write(at("trust"), order.trust);
  at("trust").className = `trust ${order.trust}`;
  write(at("reason"), `${order.reason}.`);
  fill(at("track"), track(order), ({ name }) => name, trackStep);
  fill(at("facts"), facts(order), ({ name }) => name, fact);
  fill(
    at("odd"),
    order.anomalies,
    ({ kind, field }) => `${kind} ${field}`,
    ({ kind, message }) =>
      make("li", {}, make("b", { textContent: plain(kind) }), `${message}.`),
  );
  write(at("count"), String(order.events.length));
  fill(
    at("events"),
    order.events.map((event) => ({ ...event, orderId: order.orderId })),
    ({ orderId, position }) => `${orderId} ${position}`,
    eventItem,
  );
}

const count = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;
const plain = (name) => name.replaceAll("_", " ");
const RANKS = ["created", "progress", "pending", "success"];

function track({ status, confirmedStatus }) {
  const ends = ["failed", "cancelled"];
  const end = [status, confirmedStatus].find((one) => ends.includes(one));
  const steps = end ? ["created", "progress", end] : RANKS;
  const rank = (one) => one === null ? -1 : steps.indexOf(one);
  return steps.map((name, i) => ({
    name,
    trust: i <= rank(confirmedStatus)
      ? "confirmed"
      : i <= rank(status)
      ? "claimed"
      : "",
    isBad: name === end,
  }));
}

function trackStep({ name, trust, isBad }) {
  const item = make("li", { className: isBad ? `${trust} bad` : trust }, name);
  if (trust) item.append(make("span", { className: "soft" }, `, ${trust}`));
  return item;
}

function facts(order) {
  const isReleased = order.released > 0;
  const isLost = ["failed", "cancelled"].includes(order.confirmedStatus);
  return [
    { name: "At the service right now", value: order.atService ?? "not there" },
    {
      name: "Goods",
      value: isReleased
        ? `released, ${order.released === 1 ? "once" : order.released}`
        : isLost
        ? "not released"
        : "held until confirmed",
      look: isReleased ? "good" : "",
    },
    { name: "Paid", value: order.paid },
    { name: "The shop’s reference", value: order.reference ?? "none" },
    { name: "Bought", value: order.bought, size: "wide" },
    { name: "To", value: order.address, look: "mono", size: "wide" },
    { name: "Transaction", value: order.txId, look: "mono", size: "full" },
  ].filter(({ value }) => value !== null);
}

function fact({ name, value, look = "", size = "" }) {
  return make(
    "div",
    { className: size },
    make("dt", { textContent: name }),
    make("dd", { textContent: value, className: look }),
  );
}

const TITLES = {
  order_snapshot: "The service was asked",
  user_snapshot: "The service was asked about the user",
  order_absent: "The service does not know the order",
  order_contradicted: "The service did not agree",
  session_created: "The shop made a session",
  delivery_unanswered: "A delivery was not answered in time",
};

function eventItem(event, isFresh) {
  const { at: time, became, forged, label, kind, changes, others } = event;
  const title = kind === "webhook" ? `Webhook ${label}` : TITLES[kind] ?? label;
  const what = make(
    "p",
    { className: "what" },
    make("b", { textContent: title }),
    forged ? make("span", { className: "badge" }, "forged by you") : null,
    make("time", {
      className: "mono",
      dateTime: time,
      textContent: time.slice(11, 23),
    }),
  );
  return make(
    "li",
    { className: isFresh ? "fresh" : "", data: { kind } },
    what,
    became === null ? null : make(
      "p",
      { className: "became" },
      "Now ",
      make("b", { textContent: became.status }),
      make("span", {
        className: `trust ${became.trust}`,
        textContent: became.trust,
      }),
    ),
    make("p", { className: "why", textContent: `${event.why}.` }),
    changes.length > 0 ? changeList(changes) : null,
    others.length > 0 ? otherChanges(others, changes.length) : null,
  );
}

function otherChanges(others, shown) {
  const fields = count(others.length, shown > 0 ? "more field" : "field");
  return make(
    "details",
    {},
    make("summary", { textContent: shown > 0 ? `and ${fields}` : fields }),
    changeList(others),
  );
}

function changeList(changes) {
  const list = make("dl", { className: "changes" });
  for (const { field, before, after } of changes) {
    list.append(
      make("dt", { textContent: field }),
      make(
        "dd",
        { className: "mono" },
        before === null ? null : make("s", { textContent: before }),
        before === null ? "" : " → ",
        after ?? "none",
      ),
    );
  }
  return list;
}

// The live line

const live = new EventSource("/live");
live.addEventListener("board", ({ data }) => {
  board = { ...JSON.parse(data), receivedMs: performance.now() };
  link("live", "live");
  show();
});
live.onerror = () => link("gone", "the demo has ended, or does not answer");

function link(mood, text) {
  at("link").className = `link ${mood}`;
  write(at("link"), text);
}

setInterval(() => {
  if (board === null) return;
  const { nowMs, factor } = board.clock;
  const ms = nowMs + (performance.now() - board.receivedMs) * factor;
  const clock = at("clock");
  clock.classList.toggle("leaping", factor !== 1);
  write(clock, `${new Date(ms).toISOString().slice(11, 19)} UTC`);
}, 100);

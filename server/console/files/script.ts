/**
 * What pages do beyond reading: copy, follow the ledger, say that the server is
 * gone, and write times as the reader has them. Without it every page still
 * works.
 */
export const SCRIPT = `
const SILENT_MS = 9000;
const AGAIN_MS = 4000;
const byId = (id) => document.getElementById(id);

addEventListener("click", async ({ target }) => {
  const button = target instanceof Element ? target.closest("button[data-copy]") : null;
  if (button === null) return;
  const source = byId(button.dataset.copy);
  const text = button.dataset.text ?? source.textContent.trim();
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    if (source === null) return;
    getSelection().selectAllChildren(source);
    button.textContent = "Selected: press Ctrl-C";
  }
  setTimeout(() => { button.textContent = label; }, 2000);
});

addEventListener("submit", ({ target }) => {
  // What is left empty is no part of an address.
  if (target.method !== "get") return;
  for (const field of target.elements) {
    if (field.name && field.value === "") field.disabled = true;
  }
  setTimeout(() => {
    for (const field of target.elements) field.disabled = false;
  });
});

let zone = null;
try { zone = localStorage.getItem("rampkit-times"); } catch { /* Not kept then. */ }
const two = (number) => String(number).padStart(2, "0");
const localText = (time) => {
  const offset = -time.getTimezoneOffset();
  const sign = offset < 0 ? "-" : "+";
  const ahead = "UTC" + sign + two(Math.floor(Math.abs(offset) / 60)) + ":" + two(Math.abs(offset) % 60);
  return time.getFullYear() + "-" + two(time.getMonth() + 1) + "-" + two(time.getDate()) + " " +
    two(time.getHours()) + ":" + two(time.getMinutes()) + ":" + two(time.getSeconds()) + " " + ahead;
};
const writeTimes = () => {
  for (const at of document.querySelectorAll("time[datetime]")) {
    const time = new Date(at.dateTime);
    if (Number.isNaN(time.getTime())) continue;
    at.nextElementSibling?.classList.contains("local") && at.nextElementSibling.remove();
    if (zone !== "local") continue;
    const local = document.createElement("span");
    local.className = "local";
    local.textContent = localText(time);
    at.after(local);
  }
  for (const button of document.querySelectorAll("button[data-copy]")) button.hidden = false;
  const choice = byId("times");
  if (choice !== null) {
    choice.hidden = false;
    choice.setAttribute("aria-pressed", String(zone === "local"));
  }
};
byId("times")?.addEventListener("click", () => {
  zone = zone === "local" ? "utc" : "local";
  try { localStorage.setItem("rampkit-times", zone); } catch { /* Not kept then. */ }
  writeTimes();
});

// One tree becomes the other and keeps its elements: what has the focus, what
// stands open, what was typed and how far it was scrolled stay.
const become = (old, made) => {
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== made.data) old.data = made.data;
    return;
  }
  if (old.hasAttribute("data-keep")) return;
  const kept = (name) => name === "value" || name === "hidden" || (name === "open" && old.nodeName === "DETAILS");
  for (const { name } of [...old.attributes]) {
    if (!made.hasAttribute(name) && !kept(name)) old.removeAttribute(name);
  }
  for (const { name, value } of made.attributes) {
    if (old.getAttribute(name) !== value && !kept(name)) old.setAttribute(name, value);
  }
  const next = [...made.childNodes];
  let now = old.firstChild;
  next.forEach((node, at) => {
    while (now !== null && keyOf(now) !== keyOf(node)) {
      // It comes further on: what is made comes before it.
      if (next.slice(at + 1).some((one) => keyOf(one) === keyOf(now))) break;
      const left = now;
      now = now.nextSibling;
      left.remove();
    }
    if (now === null || keyOf(now) !== keyOf(node)) {
      old.insertBefore(node.cloneNode(true), now);
    } else {
      const same = now;
      now = now.nextSibling;
      become(same, node);
    }
  });
  while (now !== null) {
    const left = now;
    now = now.nextSibling;
    left.remove();
  }
};
const keyOf = (node) =>
  node.nodeType !== Node.ELEMENT_NODE
    ? node.nodeName
    : node.nodeName + (node.id || node.getAttribute("aria-labelledby") || "");
const main = byId("main");
const saidBy = (element) => {
  const copy = element.cloneNode(true);
  for (const one of copy.querySelectorAll(".ago, .local, [data-keep], [data-later]")) one.remove();
  return copy.textContent.replace(/\\s+/g, " ");
};
let said = main === null ? "" : saidBy(main);
const isBusy = () => {
  const { activeElement: active } = document;
  const isWriting = active !== null && main.contains(active) &&
    active.matches("input, textarea, select");
  return isWriting || !getSelection().isCollapsed ||
    [...main.querySelectorAll("textarea, main input:not([type=hidden])")].some((field) => field.value !== field.defaultValue);
};
const show = (made) => {
  byId("changed").hidden = true;
  for (const local of main.querySelectorAll(".local")) local.remove();
  become(main, made);
  said = saidBy(made);
  document.title = made.ownerDocument.title;
  writeTimes();
  later();
};
let asked = false;
const lookAgain = async (position) => {
  if (main === null || asked) return;
  asked = true;
  try {
    const answer = await fetch(location.href, { headers: { accept: "text/html" } });
    if (!answer.ok || answer.redirected) return;
    const made = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = made.getElementById("main");
    if (fresh === null) return;
    const isNews = saidBy(fresh) !== said;
    if (!isNews) main.dataset.position = position;
    else if (main.dataset.follows === "place" && !isBusy()) show(fresh);
    else {
      const note = byId("changed");
      note.hidden = false;
      note.querySelector("button").onclick = () => show(fresh);
      main.dataset.position = position;
    }
  } catch {
    // The connection says what is wrong.
  } finally {
    asked = false;
  }
};
const later = async () => {
  const place = document.querySelector("[data-later]");
  if (place === null) return;
  const answer = await fetch(place.dataset.later, { headers: { accept: "text/html" } }).catch(() => null);
  if (answer === null || !answer.ok) return;
  const made = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("totals");
  if (made !== null && place.isConnected) place.replaceWith(made);
};

let events = null;
let silent = null;
let again = null;
let lastMs = Date.now();
const heard = () => {
  lastMs = Date.now();
  clearTimeout(silent);
  silent = setTimeout(() => gone("No connection"), SILENT_MS);
  const wasGone = byId("gone")?.hidden === false;
  const note = byId("gone");
  if (note !== null) note.hidden = true;
  byId("health")?.classList.remove("stale");
  if (wasGone) lookAgain(main?.dataset.position);
};
const gone = (what) => {
  const note = byId("gone");
  if (note === null) return;
  const time = new Date(lastMs);
  const since = zone === "local"
    ? two(time.getHours()) + ":" + two(time.getMinutes()) + ":" + two(time.getSeconds())
    : time.toISOString().slice(11, 19) + " UTC";
  const text = what + " since " + since + ": what you see is from then.";
  if (note.textContent !== text) note.textContent = text;
  note.hidden = false;
  byId("health")?.classList.add("stale");
};
const leave = () => {
  clearTimeout(silent);
  clearTimeout(again);
  events?.close();
  events = null;
};
const follow = () => {
  leave();
  if (document.hidden) return;
  silent = setTimeout(() => gone("No connection"), SILENT_MS);
  events = new EventSource("/live");
  events.addEventListener("open", heard);
  events.addEventListener("error", () => {
    if (events?.readyState !== EventSource.CLOSED) return;
    // It was refused: too many pages are open, or nobody is signed in.
    gone("Out of touch");
    again = setTimeout(follow, AGAIN_MS);
  });
  events.addEventListener("beat", ({ data }) => {
    heard();
    if (main !== null && main.dataset.position !== data) lookAgain(data);
  });
  events.addEventListener("health", ({ data }) => {
    const bar = byId("health");
    if (bar === null || bar.contains(document.activeElement)) return;
    const isOpen = bar.querySelector("details")?.open === true;
    bar.outerHTML = JSON.parse(data);
    const details = document.querySelector("#health details");
    if (details !== null) details.open = isOpen;
    writeTimes();
  });
};
writeTimes();
later();
if (byId("health") !== null) {
  document.addEventListener("visibilitychange", follow);
  follow();
}
`;

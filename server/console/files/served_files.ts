/** The look of every page, light or dark as the reader has it. */
const STYLE = `
:root {
  color-scheme: light dark;
  --brand: light-dark(#0b6e69, #4fc3bb); --on-brand: light-dark(#fff, #10201f);
  --back: light-dark(#f3f5f7, #11151a); --card: light-dark(#fff, #1a2027);
  --ink: light-dark(#161b22, #e8ecf1); --soft: light-dark(#566070, #9aa6b4);
  --line: light-dark(#dfe4ea, #2c343e); --edge: light-dark(#7d8794, #6b7684);
  --field: light-dark(#fff, #12171d);
  --good: light-dark(#14693a, #6fd39b); --bad: light-dark(#b3261e, #ff8f85);
  --warn: light-dark(#7d5200, #f2bd5c);
  --good-back: light-dark(#e7f5ec, #14281d); --bad-back: light-dark(#fdecea, #331917);
  --warn-back: light-dark(#fdf3e0, #2e2410);
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0 auto; padding: 0 24px 48px; max-width: 1180px;
  background: var(--back); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif;
}
a { color: var(--brand); }
h1 { font-size: 22px; line-height: 1.3; margin: 0 0 12px; }
h2 { font-size: 16px; margin: 0 0 10px; }
h3 { font-size: 14px; margin: 0 0 4px; }
p { margin: 0 0 10px; }
p, li, dd, h1, h2, summary { overflow-wrap: anywhere; }
bdi { unicode-bidi: isolate; overflow-wrap: anywhere; }
code { font: 13px/1.4 ui-monospace, "SF Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere; }
.soft { color: var(--soft); font-weight: 400; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip { position: absolute; left: 8px; top: -60px; background: var(--card); padding: 8px 14px; border-radius: 8px; z-index: 2; }
.skip:focus { top: 8px; }
main { overflow-x: clip; margin: 0 -6px; padding: 0 6px; }
main:focus { outline: none; }
:focus-visible { outline: 2px solid var(--brand); outline-offset: 2px; border-radius: 4px; }

.top { display: flex; flex-wrap: wrap; align-items: center; gap: 10px 16px; padding: 16px 0 12px; }
.brand { font-weight: 700; font-size: 18px; color: var(--ink); text-decoration: none; }
.environment { border: 1px solid currentColor; border-radius: 99px; padding: 0 10px; font-size: 13px; font-weight: 600; }
.environment.production { color: var(--bad); } .environment.test { color: var(--soft); }
.search { display: flex; flex: 1 1 320px; gap: 8px; }
.search input { flex: 1; }
nav { display: flex; flex-wrap: wrap; gap: 4px; }
nav a { padding: 5px 10px; border-radius: 8px; text-decoration: none; font-weight: 550; }
nav a:hover { text-decoration: underline; }
nav a[aria-current] { background: var(--card); color: var(--ink); box-shadow: inset 0 0 0 1px var(--line); }
.out { display: flex; gap: 8px; align-items: center; }

.health { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 8px 14px; margin-bottom: 20px; font-size: 14px; }
.parts, .told, .plain { list-style: none; margin: 0; padding: 0; }
.parts { display: flex; flex-wrap: wrap; gap: 4px 20px; }
.part { font-weight: 600; white-space: nowrap; }
.part a { color: inherit; text-decoration: none; } .part a:hover { text-decoration: underline; } .told a { color: inherit; }
.part .word { font-weight: 400; color: var(--soft); }
.good { color: var(--good); } .warn { color: var(--warn); } .bad { color: var(--bad); } .unused { color: var(--soft); }
.told { margin: 8px 0 2px; }
.told li { border-left: 3px solid currentColor; padding: 2px 0 2px 10px; margin-top: 6px; }
.told .soft, .advice { color: var(--ink); }
.meanings { margin-top: 4px; } .meanings summary { font-size: 13px; color: var(--soft); }
.meanings .good, .meanings .unused { color: var(--soft); }

section, .card { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 16px 18px; margin-bottom: 18px; min-width: 0; }
.columns { display: grid; grid-template-columns: minmax(0, 5fr) minmax(0, 4fr); gap: 18px; align-items: start; }
.crumb { color: var(--soft); margin: 0 0 4px; overflow-wrap: anywhere; }
.badge { display: inline-block; border-radius: 99px; padding: 1px 12px; font-size: 14px; font-weight: 650; border: 1px solid currentColor; white-space: nowrap; }
.badge.good { background: var(--good-back); } .badge.warn { background: var(--warn-back); } .badge.bad { background: var(--bad-back); }
.verdict { font-size: 21px; line-height: 1.35; font-weight: 650; margin: 0 0 12px; overflow-wrap: anywhere; }
.release { display: flex; flex-wrap: wrap; gap: 6px 14px; align-items: baseline; margin: 0 0 10px; }
.money { font-size: 18px; font-weight: 600; margin: 0 0 12px; }

dl.facts { margin: 0; } .facts > div { display: grid; grid-template-columns: 150px minmax(0, 1fr); gap: 12px; padding: 4px 0; }
.facts > div + div { border-top: 1px solid var(--line); }
.columns > :last-child .facts > div { grid-template-columns: 104px minmax(0, 1fr); }
.facts dt { color: var(--soft); } .facts dd { margin: 0; overflow-wrap: anywhere; }

.scroll { overflow-x: auto; border-radius: 6px; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: 7px 14px 7px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-size: 13px; color: var(--soft); font-weight: 600; white-space: nowrap; }
tbody tr:last-child td { border-bottom: 0; }
.num { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td code, time { white-space: nowrap; }
.says { min-width: 15em; overflow-wrap: anywhere; }
tr > :last-child { padding-right: 0; }

button, .button {
  font: inherit; font-weight: 550; cursor: pointer; color: var(--ink); text-decoration: none;
  background: var(--card); border: 1px solid var(--edge); border-radius: 9px; padding: 5px 14px; display: inline-block;
}
button:hover, .button:hover { border-color: var(--brand); }
button.grave { color: var(--bad); border-color: var(--bad); }
button.quiet { border-color: transparent; background: none; color: var(--brand); padding: 5px 6px; }
.primary, .search button { background: var(--brand); border-color: var(--brand); color: var(--on-brand); }
input, select, textarea { font: inherit; color: var(--ink); background: var(--field); border: 1px solid var(--edge); border-radius: 9px; padding: 6px 11px; min-width: 0; }
textarea { width: 100%; resize: vertical; }
label { font-size: 14px; color: var(--soft); }
summary { cursor: pointer; }
details > summary { padding: 2px 0; }

.timeline { list-style: none; margin: 0; padding: 0; }
.timeline > li { border-left: 3px solid var(--line); padding: 2px 0 14px 14px; }
.timeline > li.changed { border-left-color: var(--brand); }
.timeline > li:last-child { padding-bottom: 2px; }
.timeline p { margin: 0 0 2px; overflow-wrap: anywhere; }
.timeline .said-what { font-weight: 600; }
.tag { display: inline-block; font-size: 12.5px; border: 1px solid var(--line); border-radius: 6px; padding: 0 7px; margin-right: 6px; color: var(--soft); font-weight: 500; }
.tell { border-left: 4px solid var(--brand); padding: 4px 0 4px 14px; margin: 0 0 10px; white-space: pre-line; }
pre { margin: 0; padding: 12px 14px; max-height: 70vh; overflow: auto; background: var(--field); border: 1px solid var(--line); border-radius: 9px; white-space: pre-wrap; overflow-wrap: anywhere; font: 13px/1.45 ui-monospace, Menlo, Consolas, monospace; }
.command { white-space: pre-wrap; }
.notice { border-left: 4px solid var(--warn); background: var(--warn-back); padding: 10px 14px; border-radius: 8px; margin-bottom: 14px; }
.item { border-top: 1px solid var(--line); padding: 12px 0; } .item:first-of-type { border-top: 0; padding-top: 0; }
.item .head { display: flex; flex-wrap: wrap; gap: 4px 14px; align-items: baseline; margin: 0 0 2px; }
.item .amount { font-weight: 650; font-variant-numeric: tabular-nums; }
.item > :last-child, section > :last-child, .item p:last-child { margin-bottom: 0; }
.item:last-child { padding-bottom: 0; }
.letters { list-style: none; margin: 0 0 12px; padding: 0 0 0 14px; border-left: 3px solid var(--line); }
.letters li { padding: 8px 0; } .letters .head { display: flex; flex-wrap: wrap; gap: 4px 14px; align-items: baseline; margin: 0; }
.letters p { margin: 0 0 4px; } .letters details > p { margin: 6px 0 0; }
.plain + p, .scroll + p { margin-top: 10px; }
.links li { padding: 3px 0; }
.filter { margin-bottom: 16px; }
.fields { display: grid; grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); gap: 8px 12px; margin-bottom: 10px; }
.field { display: grid; gap: 2px; } .field label { font-size: 13px; } .field input, .field select { width: 100%; }
.totals { font-size: 15px; } .total::before { content: "·"; color: var(--soft); margin: 0 6px; }
.totals, .num { font-variant-numeric: tabular-nums; }
.word bdi { overflow-wrap: break-word; } .ago { white-space: nowrap; } .facts + form, .facts + pre { margin-top: 10px; }
.same { margin-top: 12px; } .same code { overflow-wrap: anywhere; }
.local { display: block; color: var(--soft); font-size: 13px; white-space: nowrap; }
.stale { opacity: 0.45; filter: grayscale(1); }
#gone { font-weight: 600; } #changed { position: sticky; top: 8px; z-index: 1; box-shadow: 0 2px 10px #0003; }
button.copy { font-size: 12px; padding: 0 6px; border-color: transparent; color: var(--soft); }
.row { display: flex; flex-wrap: wrap; gap: 8px 12px; align-items: center; }
.note-form { display: grid; gap: 8px; margin-top: 8px; max-width: 640px; }
.notes { list-style: none; margin: 6px 0 0; padding: 0 0 0 12px; border-left: 3px solid var(--line); font-size: 14px; }
.tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(210px, 44%), 1fr)); gap: 12px; margin-bottom: 18px; }
.tile { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 12px 16px; text-decoration: none; color: var(--ink); }
.tile strong { display: block; font-size: 22px; font-variant-numeric: tabular-nums; }
a.tile:hover { border-color: var(--brand); }
.sign-in { max-width: 420px; margin: 12vh auto 0; }
.sign-in form { display: grid; gap: 10px; }
.button[aria-current] { background: var(--brand); color: var(--on-brand); border-color: var(--brand); }
.bars { width: 100%; max-height: 200px; } .bars .some { fill: var(--brand); } .bars .none { fill: var(--line); }
.bars text { font-size: 10px; fill: var(--soft); text-anchor: middle; } .bars .value { fill: var(--ink); }
footer { margin-top: 26px; font-size: 13px; }

@media (max-width: 860px) { .columns { grid-template-columns: minmax(0, 1fr); } }
@media (max-width: 560px) {
  body { padding: 0 14px 40px; }
  .search { order: 5; flex-basis: 100%; }
  .facts > div { grid-template-columns: minmax(0, 1fr); gap: 0; }
  section, .card { padding: 14px; }
  .verdict { font-size: 19px; }
  .columns > :last-child .facts > div { grid-template-columns: minmax(0, 1fr); }
  .bars g:not(:nth-child(5n + 1)) text:not(.value), .bars .value { display: none; } .bars text { font-size: 22px; }
  nav a { padding: 5px 8px; }
  /* What the page is about comes first: the bars above it are a line each. */
  .top { gap: 6px 10px; padding: 10px 0 8px; }
  nav { flex: 1 0 100%; flex-wrap: nowrap; overflow-x: auto; }
  .health { padding: 6px 10px; margin-bottom: 10px; }
  .parts { flex-wrap: nowrap; overflow-x: auto; gap: 4px 14px; }
  .part .word, .meanings { display: none; }
  .told { margin: 2px 0 0; }
  .told li { margin-top: 2px; padding: 0 0 0 8px; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
}
/* Each row of a table is a list: nobody has to push it to and fro. */
@media (max-width: 640px) {
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  table, tbody, tr { display: block; }
  tr { padding: 8px 0; border-bottom: 1px solid var(--line); } tbody tr:last-child { border-bottom: 0; }
  td { display: grid; grid-template-columns: 96px minmax(0, 1fr); gap: 12px; padding: 2px 0; border: 0; }
  td:empty { display: none; }
  td::before { content: attr(data-title); color: var(--soft); font-size: 13px; line-height: 1.7; }
  td.num { text-align: left; white-space: normal; overflow-wrap: anywhere; } .says { min-width: 0; } td code { white-space: normal; }
}
@media print {
  :root { color-scheme: light; }
  .top .search, nav, .health, button, .note-form, .filter, .skip, #changed { display: none; }
  body { max-width: none; padding: 0; background: #fff; } section, .card { break-inside: avoid; border-color: #999; }
  time::after { content: " UTC"; } .scroll { overflow: visible; }
}
@media (prefers-reduced-motion: no-preference) { a, button { transition: border-color 0.1s; } }
`;

/**
 * What pages do beyond reading: copy, follow the ledger, say that the server is
 * gone, and write times as the reader has them. Without it every page still
 * works.
 */
const SCRIPT = `
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

/** A file that pages load. */
interface ServedFile {
  /** Its media type. */
  readonly type: string;
  /** Gives its text. */
  readonly text: () => string;
}

const CSS = "text/css; charset=utf-8";
const JAVASCRIPT = "text/javascript; charset=utf-8";

/** A tick: the icon of every page. */
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect width="32" height="32" rx="8" fill="#0b6e69"/>
<path d="M9 16.5l5 5 9-11" fill="none" stroke="#fff" stroke-width="3.4" stroke-linecap="round" stroke-linejoin="round"/></svg>`;

const FILES: ReadonlyMap<string, ServedFile> = new Map([
  ["console.css", { type: CSS, text: () => STYLE }],
  ["console.js", { type: JAVASCRIPT, text: () => SCRIPT }],
  ["icon.svg", { type: "image/svg+xml", text: () => ICON }],
]);

/** A file by its name; null where there is none. */
export function servedFile(name: string): ServedFile | null {
  return FILES.get(name) ?? null;
}

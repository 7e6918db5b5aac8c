/**
 * What pages do beyond reading: copy, and show the health bar as it changes.
 * Without it every page still works.
 */
export const SCRIPT = `
const GONE_AFTER_MS = 10000;
for (const button of document.querySelectorAll("button[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const source = document.getElementById(button.dataset.copy);
    const label = button.textContent;
    try {
      await navigator.clipboard.writeText(source.textContent.trim());
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(source);
      button.textContent = "Selected: press Ctrl-C";
    }
    setTimeout(() => { button.textContent = label; }, 2000);
  });
}

let events = null;
let unanswered = null;
const gone = (isGone) => {
  clearTimeout(unanswered);
  unanswered = null;
  const note = document.getElementById("gone");
  if (note !== null) note.hidden = !isGone;
};
const follow = () => {
  if (document.hidden) {
    events?.close();
    events = null;
    gone(false);
  } else if (events === null) {
    events = new EventSource("/live");
    events.addEventListener("open", () => gone(false));
    events.addEventListener("error", () => {
      // One that was refused is not tried again, and says nothing.
      if (events?.readyState !== EventSource.CONNECTING) return;
      unanswered ??= setTimeout(() => gone(true), GONE_AFTER_MS);
    });
    events.addEventListener("health", ({ data }) => {
      const bar = document.getElementById("health");
      if (bar === null || bar.contains(document.activeElement)) return;
      const isOpen = bar.querySelector("details")?.open === true;
      bar.outerHTML = JSON.parse(data);
      const details = document.querySelector("#health details");
      if (details !== null) details.open = isOpen;
    });
  }
};
if (document.getElementById("health") !== null) {
  document.addEventListener("visibilitychange", follow);
  follow();
}
`;

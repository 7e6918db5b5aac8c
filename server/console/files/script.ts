/**
 * What pages do beyond reading: copy, and show the health bar as it changes.
 * Without it every page still works.
 */
export const SCRIPT = `
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
const follow = () => {
  if (document.hidden) {
    events?.close();
    events = null;
  } else if (events === null) {
    events = new EventSource("/live");
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

/** The look behind the widget. */
export const webviewStyle = "html,body{margin:0;height:100%;background:#fff}" +
  "html[data-theme=dark],[data-theme=dark] body{background:#1b1b1f}" +
  "p{font:16px/1.5 system-ui,sans-serif;margin:0;padding:40vh 24px 0;" +
  "text-align:center;color:#6b6b76}";

/**
 * Runs in the page. Its text is fixed, and so is its hash: all that varies is
 * in the data block.
 */
export const webviewScript = `"use strict";
(() => {
  const read = document.getElementById("rampkit").textContent;
  const { options, bridge } = JSON.parse(read);
  const tell = (type, data) => {
    const text = JSON.stringify({ type, data });
    const ports = [
      window.ReactNativeWebView,
      window.webkit?.messageHandlers?.[bridge],
      window[bridge],
    ];
    for (const port of ports) port?.postMessage?.(text);
    dispatchEvent(new CustomEvent("rampkit", { detail: { type, data } }));
  };
  const say = (text) => document.querySelector("p").textContent = text;
  const types = ["close", "loaded", "error", "payment-status", "position",
    "rate-update"];
  const listeners = {};
  for (const type of types) listeners[type] = (data) => tell(type, data);
  try {
    listeners.close = () => {
      say("The payment window is closed.");
      tell("close");
    };
    new window.WertWidget({ ...options, listeners }).open();
  } catch (error) {
    tell("error", { name: "NotOpened", message: String(error) });
    say("The payment window could not be opened. Please go back and try again.");
  }
})();
`;

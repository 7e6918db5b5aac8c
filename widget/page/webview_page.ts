import type { WidgetOptions } from "../options/sdk_options.ts";

/** Where the page gets the official SDK from: `window.WertWidget`. */
export type WebviewSdk =
  | {
    /** Absolute address of the SDK's browser script. */
    readonly src: string;
    /** Subresource integrity of that script, such as `sha384-…`. */
    readonly integrity?: string;
  }
  | {
    /** Text of the SDK's browser script, put into the page itself. */
    readonly inline: string;
  };

/** What the page is made from. */
export interface WebviewPageOptions {
  /** Checked options; listeners are left out, the app listens instead. */
  readonly options: WidgetOptions;
  /** Where the SDK comes from. */
  readonly sdk: WebviewSdk;
  /**
   * Title of the page.
   *
   * @default {"Buy"}
   */
  readonly title?: string;
  /**
   * Name of the app's message handler: `window.webkit.messageHandlers.NAME` on
   * iOS, `window.NAME` on Android. React Native's is detected automatically.
   *
   * @default {"rampkit"}
   */
  readonly bridge?: string;
  /**
   * What the widget's frame may show. Card issuers' 3-D Secure pages live on
   * hosts of their own and open in the same frame, so it is any https page
   * unless you know them all.
   *
   * @default {["https:"]}
   */
  readonly frameSources?: readonly string[];
}

/** A page to give to an app's WebView. */
export interface WebviewPage {
  /** The whole document. */
  readonly html: string;
  /** The policy, as in the document and in `headers`. */
  readonly contentSecurityPolicy: string;
  /** Headers to send with it; the session in it is valid for 30 seconds. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Makes the page that a mobile app shows in a WebView: one document that
 * opens the widget at once, under a strict content security policy.
 *
 * Make it for each request, with a session created just then. What the
 * widget reports goes to the app as JSON text, `{ type, data }`; a payment's
 * status in it is a hint, never proof.
 *
 * @param page Options, the SDK, and how the app listens.
 * @returns The document, its policy, and the headers to send.
 * @throws {TypeError} When the SDK's address, the bridge's name or a frame
 * source is not usable.
 *
 * @example Serve the page
 * ```ts
 * import { webviewPage, widgetOptions } from "@rampkit/onramp/widget";
 * import assert from "node:assert/strict";
 *
 * const options = widgetOptions(
 *   { partner_id: "01ABC", session_id: "s-1" },
 *   { environment: "sandbox" },
 * );
 * const page = await webviewPage({
 *   options,
 *   sdk: { src: "https://shop.example/wert.js" },
 * });
 * const response = new Response(page.html, { headers: page.headers });
 * assert.match(await response.text(), /^<!doctype html>/);
 * ```
 */
export async function webviewPage(
  page: WebviewPageOptions,
): Promise<WebviewPage> {
  const { options, sdk, title = "Buy", bridge = "rampkit" } = page;
  if (!/^[A-Za-z_$][\w$]*$/.test(bridge)) {
    throw new TypeError(
      `Cannot make the page: bridge is ${JSON.stringify(bridge)}; use a name`,
    );
  }
  const { listeners: _, ...data } = options;
  const { element, source } = await sdkScript(sdk);
  const hashes = await Promise.all([hash(webviewScript), hash(webviewStyle)]);
  const contentSecurityPolicy = [
    "default-src 'none'",
    `script-src ${hashes[0]} ${source}`,
    `style-src ${hashes[1]}`,
    `frame-src ${frameSources(options.origin, page.frameSources)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const theme = options.theme === "dark" ? ` data-theme="dark"` : "";
  const html = `<!doctype html>
<html lang="${escapeHtml(options.lang ?? "en")}"${theme}>
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${
    escapeHtml(contentSecurityPolicy)
  }">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="referrer" content="strict-origin-when-cross-origin">
<title>${escapeHtml(title)}</title>
<style>${webviewStyle}</style>
</head>
<body>
<p role="status">Opening the payment window…</p>
<script type="application/json" id="rampkit">${
    embeddedJson({ options: data, bridge })
  }</script>
${element}
<script>${webviewScript}</script>
</body>
</html>
`;
  return {
    html,
    contentSecurityPolicy,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy":
        `${contentSecurityPolicy}; frame-ancestors 'none'`,
      "cache-control": "no-store",
      "referrer-policy": "strict-origin-when-cross-origin",
      "x-content-type-options": "nosniff",
    },
  };
}

async function sdkScript(
  sdk: WebviewSdk,
): Promise<{ element: string; source: string }> {
  if ("inline" in sdk) {
    // A parser ends the element at the first end tag, wherever it stands.
    if (/<\/script|<!--/i.test(sdk.inline)) {
      throw new TypeError(
        'Cannot make the page: the SDK\'s text holds "</script" or "<!--"; ' +
          "serve it as a file and pass src",
      );
    }
    const source = await hash(sdk.inline);
    return { element: `<script>${sdk.inline}</script>`, source };
  }
  const url = URL.canParse(sdk.src) ? new URL(sdk.src) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new TypeError(
      `Cannot make the page: the SDK's src is ${JSON.stringify(sdk.src)}; ` +
        "use an absolute http or https address",
    );
  }
  const integrity = sdk.integrity === undefined
    ? ""
    : ` integrity="${escapeHtml(sdk.integrity)}"`;
  const src = escapeHtml(url.href);
  return {
    element:
      `<script src="${src}" crossorigin="anonymous"${integrity}></script>`,
    source: cspSource(url),
  };
}

// A policy's source has no query, and these two characters would end it.
function cspSource(url: URL): string {
  const path = url.pathname.replaceAll(";", "%3B").replaceAll(",", "%2C");
  return url.origin + path;
}

function frameSources(
  origin: string,
  sources: readonly string[] = ["https:"],
): string {
  for (const source of sources) {
    if (/^[\w.:*\/-]+$/.test(source)) continue;
    throw new TypeError(
      `Cannot make the page: frame source ${JSON.stringify(source)} is no ` +
        'host; use for example "https:" or "https://acs.example"',
    );
  }
  return [...new Set([origin, ...sources])].join(" ");
}

async function hash(text: string): Promise<string> {
  const bytes = new TextEncoder().encode(text);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return `'sha256-${btoa(String.fromCharCode(...digest))}'`;
}

function embeddedJson(value: unknown): string {
  return JSON.stringify(value).replaceAll("<", "\\u003c");
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

/** The look behind the widget. */
const webviewStyle = "html,body{margin:0;height:100%;background:#fff}" +
  "html[data-theme=dark],[data-theme=dark] body{background:#1b1b1f}" +
  "p{font:16px/1.5 system-ui,sans-serif;margin:0;padding:40vh 24px 0;" +
  "text-align:center;color:#6b6b76}";

/**
 * Runs in the page. Its text is fixed, and so is its hash: all that varies is
 * in the data block.
 */
const webviewScript = `"use strict";
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

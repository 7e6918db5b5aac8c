import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { webviewPage } from "./webview_page.ts";
import { widgetOptions } from "../options/widget_options.ts";

const options = widgetOptions({
  partner_id: "p",
  session_id: "s-1",
  card_street: "</script><script>alert(1)</script><!-- &",
  listeners: { loaded: () => {} },
  theme: "dark",
  lang: "fr",
}, { environment: "sandbox" });

const sdk = { src: "https://cdn.example/wert;1.js?a=1&b=2" };

/** Texts of the elements of one kind. */
function texts(html: string, name: string): string[] {
  const elements = html.matchAll(
    new RegExp(`<${name}(?:\\s[^>]*)?>([\\s\\S]*?)</${name}>`, "g"),
  );
  return [...elements].map(([, text]) => text ?? "");
}

function hashOf(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

Deno.test("webviewPage() allows by hash exactly the scripts and styles it holds", async () => {
  const inline = 'window.WertWidget = class { open() { "é" } };';
  const { html, contentSecurityPolicy } = await webviewPage({
    options,
    sdk: { inline },
  });
  const [data, sdkText, script] = texts(html, "script");
  const [style] = texts(html, "style");
  assert.equal(sdkText, inline);
  const hashes = contentSecurityPolicy.match(/'sha256-[^']+'/g);
  assert.deepEqual(
    hashes,
    [script, sdkText, style].map((t) => hashOf(t ?? "")),
  );
  assert.doesNotMatch(contentSecurityPolicy, /unsafe|nonce/);
  assert.ok(data?.startsWith("{"));
});

Deno.test("webviewPage() has the same policy in document and header", async () => {
  const { html, headers, contentSecurityPolicy } = await webviewPage({
    options,
    sdk,
  });
  assert.ok(html.includes(`content="${contentSecurityPolicy}"`));
  assert.equal(
    headers["content-security-policy"],
    `${contentSecurityPolicy}; frame-ancestors 'none'`,
  );
  assert.equal(headers["cache-control"], "no-store");
  assert.match(contentSecurityPolicy, /^default-src 'none'; /);
  assert.match(contentSecurityPolicy, /; base-uri 'none'; form-action 'none'$/);
});

Deno.test("webviewPage() loads the SDK from the very address it was given", async () => {
  const { html, contentSecurityPolicy } = await webviewPage({
    options,
    sdk: { ...sdk, integrity: "sha384-abc" },
  });
  assert.ok(html.includes(
    '<script src="https://cdn.example/wert;1.js?a=1&amp;b=2" ' +
      'crossorigin="anonymous" integrity="sha384-abc"></script>',
  ));
  assert.match(
    contentSecurityPolicy,
    /script-src 'sha256-[^']+' https:\/\/cdn\.example\/wert%3B1\.js;/,
  );
});

Deno.test("webviewPage() keeps options from ending their data block", async () => {
  const { html } = await webviewPage({ options, sdk });
  const [data] = texts(html, "script");
  assert.doesNotMatch(data ?? "", /</);
  const { listeners: _, ...rest } = options;
  assert.deepEqual(JSON.parse(data ?? ""), {
    options: rest,
    bridge: "rampkit",
  });
});

Deno.test("webviewPage() frames the widget, and by default the banks' https pages", async () => {
  const policy = async (frameSources?: string[]) => {
    const page = { options, sdk, ...(frameSources && { frameSources }) };
    return (await webviewPage(page)).contentSecurityPolicy;
  };
  assert.match(await policy(), /frame-src https:\/\/sandbox\.wert\.io https:;/);
  assert.match(await policy([]), /frame-src https:\/\/sandbox\.wert\.io;/);
  assert.match(
    await policy(["https://*.bank.example:8443"]),
    /frame-src https:\/\/sandbox\.wert\.io https:\/\/\*\.bank\.example:8443;/,
  );
});

Deno.test("webviewPage() escapes the title, and sets language and theme", async () => {
  const title = 'Buy <b> & "go"';
  const { html } = await webviewPage({ options, sdk, title });
  assert.match(html, /<title>Buy &lt;b&gt; &amp; &quot;go&quot;<\/title>/);
  assert.match(html, /^<!doctype html>\n<html lang="fr" data-theme="dark">/);
});

Deno.test("webviewPage() refuses what it cannot put into a page safely", async () => {
  const wrong = [
    { sdk: { src: "wert.js" } },
    { sdk: { src: "javascript:alert(1)" } },
    { sdk: { inline: "x = '</SCRIPT>'" } },
    { sdk: { inline: "x = '<!--'" } },
    { sdk, bridge: "a.b" },
    { sdk, bridge: "" },
    { sdk, frameSources: ["https:; script-src *"] },
    { sdk, frameSources: ["'unsafe-inline'"] },
  ];
  for (const fields of wrong) {
    await assert.rejects(webviewPage({ options, ...fields }), {
      name: "TypeError",
      message: /^Cannot make the page: /,
    });
  }
});

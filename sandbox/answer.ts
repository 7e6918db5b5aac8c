/** A JSON answer. */
export function answer(
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", ...headers },
  });
}

/** The answer to a request that breaks a rule of the API. */
export function invalid(what: string): Response {
  return answer(400, { message: `invalid request: ${what}` });
}

/** An answer that is no JSON. */
export function html(status: number, text: string): Response {
  return new Response(`<html><body>${text}</body></html>`, {
    status,
    headers: { "content-type": "text/html" },
  });
}

/** Text made safe for an HTML page. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

/** What a page is made of; style and script run by the nonce only. */
export interface PageParts {
  readonly title: string;
  readonly style: string;
  readonly body: string;
  readonly script: string;
  /** What the script finds in the element `data`. */
  readonly data: unknown;
  /** Who may show the page in a frame. */
  readonly frameAncestors: "'none'" | "*";
}

/** A self-contained page that can load nothing from anywhere else. */
export function htmlPage(parts: PageParts): Response {
  const nonce = crypto.randomUUID();
  const policy = [
    "default-src 'none'",
    `style-src 'nonce-${nonce}'`,
    `script-src 'nonce-${nonce}'`,
    "connect-src 'self'",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${parts.frameAncestors}`,
  ].join("; ");
  const data = JSON.stringify(parts.data).replaceAll("<", "\\u003c");
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(parts.title)}</title>
<link rel="icon" href="data:,">
<style nonce="${nonce}">${parts.style}</style>
</head>
<body>
${parts.body}
<script type="application/json" id="data">${data}</script>
<script type="module" nonce="${nonce}">${parts.script}</script>
</body>
</html>`;
  return new Response(html, {
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": policy,
      "referrer-policy": "no-referrer",
      "cache-control": "no-store",
    },
  });
}

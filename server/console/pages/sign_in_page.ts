import { type Markup, markup } from "../markup/markup.ts";
import { bare } from "./layout.ts";

/** The page on which people sign in. */
export function signInPage(
  { to, failed }: { readonly to: string; readonly failed: boolean },
): Markup {
  return bare(
    "Sign in",
    markup`<main class="card sign-in">
<h1>Rampkit console</h1>
${
      failed &&
      markup`
        <p class="notice"
          role="alert">This token is not known. Copy it whole, without <code>read:</code> or <code>operate:</code> in front.</p>
      `
    }
<form action="/sign-in" method="post">
<input type="hidden" name="to" value="${to}">
<label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus>
<button class="primary">Sign in</button>
</form>
<p class="soft">Whoever runs this console gives out tokens.</p>
</main>`,
  );
}

/** Loads the same address once more: then the browser sends the cookie. */
export function againPage(): Markup {
  return markup`
    <!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8">
        <meta http-equiv="refresh" content="0">
        <title>Rampkit</title>
      </head>
      <body></body>
    </html>
  `;
}

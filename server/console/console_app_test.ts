import assert from "node:assert/strict";
import type { Access } from "./access/access.ts";
import { defined } from "../../core/guards.ts";
import { testConsole } from "../../tests/kit/console.ts";
import { emptyLedger } from "../../ledger/testing/mod.ts";

/** A console over an empty ledger, with a clock. */
async function open(access?: Access) {
  let nowMs = Date.parse("2026-11-20T12:00:00Z");
  const now = () => nowMs;
  const ledger = await emptyLedger({
    now,
  });
  const opened = testConsole(ledger, now, access);
  return {
    logged: opened.logged,
    ask: (
      path: string,
      headers?: Readonly<Record<string, string>>,
      fields?: Readonly<Record<string, string>>,
    ) => opened.ask(path, defined({ headers, fields })),
    head: (path: string) => opened.ask(path, { method: "HEAD" }),
    later: (ms: number) => nowMs += ms,
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}

const OWN = { origin: "http://127.0.0.1:8790" };

const TOKENS: Access = {
  kind: "tokens",
  tokens: {
    callerOf: (token) =>
      token === "read-secret-1"
        ? { name: "read-1", scope: "read" }
        : token === "operate-secret-2"
        ? { name: "anna", scope: "operate" }
        : null,
  },
};

/** The cookie of an answer, as a browser sends it back. */
function cookieOf(response: Response): string {
  return response.headers.get("set-cookie")?.split(";")[0] ?? "";
}

Deno.test("consoleApp() refuses a Host that is pointed at this machine", async () => {
  await using opened = await open();
  const statuses: Record<string, number> = {};
  for (
    const host of [
      "evil.example",
      "evil.example:8790",
      "127.0.0.1.evil.example",
      "localhost:8790",
      "127.0.0.1:8790",
      "[::1]:8790",
      "192.168.1.7:8790",
      "console.example",
      "CONSOLE.example:443",
    ]
  ) {
    for (const path of ["/", "/files/console.css", "/live", "/sign-in"]) {
      if (host !== "evil.example" && path !== "/sign-in") continue;
      statuses[`${host}${path}`] = (await opened.ask(path, { host })).status;
    }
  }
  assert.deepEqual(statuses, {
    "evil.example/": 403,
    "evil.example/files/console.css": 403,
    "evil.example/live": 403,
    "evil.example/sign-in": 403,
    "evil.example:8790/sign-in": 403,
    "127.0.0.1.evil.example/sign-in": 403,
    "localhost:8790/sign-in": 200,
    "127.0.0.1:8790/sign-in": 200,
    "[::1]:8790/sign-in": 200,
    "192.168.1.7:8790/sign-in": 200,
    "console.example/sign-in": 200,
    "CONSOLE.example:443/sign-in": 200,
  });
});

Deno.test("consoleApp() takes actions from its own pages alone", async () => {
  await using opened = await open();
  const page = await opened.ask("/");
  const cookie = cookieOf(page);
  assert.match(cookie, /^rampkit_console=.{20,}/);
  for (
    const headers of [
      {},
      { origin: "null" },
      { origin: "http://evil.example" },
      { origin: "http://127.0.0.1:8791" },
    ] as Record<string, string>[]
  ) {
    const answer = await opened.ask(
      "/sign-out",
      { ...headers, cookie },
      { form: "x" },
    );
    assert.equal(answer.status, 403);
    assert.match(
      await answer.text(),
      /came from another page.*its Host is "127\.0\.0\.1.*pass Host on/,
    );
  }
  const answer = await opened.ask(
    "/sign-out",
    { ...OWN, cookie },
    { form: "guessed" },
  );
  assert.equal(answer.status, 403);
  assert.match(await answer.text(), /The form is too old/);
});

Deno.test("consoleApp() lets nothing inline run, and stays out of caches and frames", async () => {
  await using opened = await open();
  const answer = await opened.ask("/");
  assert.equal(
    answer.headers.get("content-security-policy"),
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
      "connect-src 'self'; form-action 'self'; base-uri 'none'; " +
      "frame-ancestors 'none'",
  );
  assert.equal(answer.headers.get("cache-control"), "no-store");
  assert.equal(answer.headers.get("referrer-policy"), "same-origin");
  assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
  const text = await answer.text();
  assert.doesNotMatch(text, /<script>|<style|\son[a-z]+=|\sstyle=/);
});

Deno.test("consoleApp() shows nothing before somebody signs in with a token", async () => {
  await using opened = await open(TOKENS);
  for (const path of ["/", "/search?q=x", "/live", "/no-such-page"]) {
    const answer = await opened.ask(path);
    assert.equal(answer.status, 401, path);
    assert.match(await answer.text(), /<title>Sign in/);
  }
  const wrong = await opened.ask("/sign-in", OWN, { token: "guess", to: "/" });
  assert.equal(wrong.status, 403);
  assert.match(await wrong.text(), /This token is not known/);
  assert.deepEqual(opened.logged, ['{"event":"console_refused"}']);

  const right = await opened.ask("/sign-in", OWN, {
    token: " read-secret-1 ",
    to: "/search?q=x",
  });
  assert.equal(right.status, 303);
  assert.equal(right.headers.get("location"), "/search?q=x");
  const set = right.headers.get("set-cookie") ?? "";
  assert.match(set, /; HttpOnly/);
  assert.match(set, /; SameSite=Strict/);
  assert.doesNotMatch(set, /secret/);
  const cookie = cookieOf(right);
  const page = await opened.ask("/", { cookie });
  assert.equal(page.status, 200);
  assert.match(await page.text(), /Sign out/);
  opened.later(12 * 3_600_000);
  assert.equal((await opened.ask("/", { cookie })).status, 401);
});

Deno.test("consoleApp() sends nobody elsewhere after the sign-in", async () => {
  await using opened = await open(TOKENS);
  for (
    const to of [
      "//evil.example",
      "https://evil.example",
      "/\\evil.example",
      "/\t/evil.example",
      "/\n/evil.example",
    ]
  ) {
    const token = "read-secret-1";
    const answer = await opened.ask("/sign-in", OWN, { token, to });
    assert.equal(answer.headers.get("location"), "/", to);
  }
});

Deno.test("consoleApp() takes no cookie that was made up or changed", async () => {
  await using opened = await open(TOKENS);
  const token = "operate-secret-2";
  const right = await opened.ask("/sign-in", OWN, { token, to: "/" });
  const cookie = cookieOf(right);
  assert.equal((await opened.ask("/", { cookie })).status, 200);
  const [ends = "", scope, name, salt, hash] = cookie.split("=")[1]?.split(
    "~",
  ) ?? [];
  assert.deepEqual([scope, name], ["operate", "anna"]);
  for (
    const changed of [
      `${Number(ends) + 1}~${scope}~${name}~${salt}~${hash}`,
      `${ends}~${scope}~boss~${salt}~${hash}`,
      `${ends}~${scope}~${name}~${salt}~`,
      `${ends}~${scope}~${name}~${salt}`,
      hash,
      "",
      "read-secret-1",
    ]
  ) {
    const answer = await opened.ask("/", {
      cookie: `rampkit_console=${changed}`,
    });
    assert.equal(answer.status, 401, String(changed));
  }
});

Deno.test("consoleApp() loads a page once more where a link came from elsewhere", async () => {
  await using opened = await open(TOKENS);
  const answer = await opened.ask("/orders/01X", {
    "sec-fetch-site": "cross-site",
  });
  assert.equal(answer.status, 200);
  assert.match(await answer.text(), /http-equiv="refresh" content="0"/);
});

Deno.test("consoleApp() says how the parts are, at once and when it changes", async () => {
  await using opened = await open();
  const answer = await opened.ask("/live");
  const reader = answer.body?.getReader();
  const { value } = await reader?.read() ?? {};
  const text = new TextDecoder().decode(value);
  assert.match(text, /^event: health\ndata: /);
  for (
    const part of [
      "Webhooks",
      "Polling",
      "Ledger",
      "Backlog",
      "Forwarding",
      "Comparison",
    ]
  ) {
    assert.ok(text.includes(part), part);
  }
  await reader?.cancel();
});

Deno.test("consoleApp() gives no place to who asks for no more than the headers of /live", async () => {
  await using opened = await open();
  for (let asked = 0; asked < 100; asked++) {
    const answer = await opened.head("/live");
    assert.equal(answer.status, 200);
    assert.equal(answer.body, null);
  }
  const answer = await opened.ask("/live");
  assert.equal(answer.status, 200);
  await answer.body?.cancel();
});

Deno.test("consoleApp() answers nothing that a page of another site loads, and follows its links", async () => {
  await using opened = await open();
  const statuses: Record<string, number> = {};
  for (
    const [site, mode, dest] of [
      ["cross-site", "no-cors", "image"],
      ["same-site", "cors", "empty"],
      ["cross-site", "navigate", "iframe"],
      ["cross-site", "navigate", "document"],
      ["same-origin", "cors", "empty"],
      ["none", "navigate", "document"],
    ] as const
  ) {
    const answer = await opened.ask("/live", {
      "sec-fetch-site": site,
      "sec-fetch-mode": mode,
      "sec-fetch-dest": dest,
    });
    statuses[`${site} ${mode} ${dest}`] = answer.status;
    await answer.body?.cancel();
  }
  assert.deepEqual(statuses, {
    "cross-site no-cors image": 403,
    "same-site cors empty": 403,
    "cross-site navigate iframe": 403,
    "cross-site navigate document": 200,
    "same-origin cors empty": 200,
    "none navigate document": 200,
  });
});

Deno.test("consoleApp() refuses a form that is too long, from whoever it is, without an alarm", async () => {
  await using opened = await open(TOKENS);
  const answer = await opened.ask("/sign-in", OWN, {
    token: "x".repeat(70_000),
  });
  assert.equal(answer.status, 413);
  assert.equal(await answer.text(), "The form is too long\n");
  assert.deepEqual(opened.logged, []);
});

Deno.test("consoleApp() answers what it does not have with a page", async () => {
  await using opened = await open();
  const answer = await opened.ask("/no-such-page");
  assert.equal(answer.status, 404);
  assert.match(await answer.text(), /There is no such page/);
});

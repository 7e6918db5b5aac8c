import assert from "node:assert/strict";
import { oddLedger } from "../kit/odd_ledger.ts";
import { main } from "../../cli/mod.ts";
import { cli, temporaryLedger } from "../kit/cli.ts";

/** Runs a command until it says where pages can be opened, and then on. */
async function opened(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ readonly url: string; stop(): Promise<number> }> {
  const interrupt = new AbortController();
  const ready = Promise.withResolvers<string>();
  let said = "";
  const take = (text: string) => {
    said += text;
    const [, url] = /(?:Open |"console_listening","url":")(http:[^";]+)/
      .exec(said) ?? [];
    if (url !== undefined) ready.resolve(url);
  };
  const ended = main(args, {
    out: take,
    err: take,
    env: (name) => env[name],
    columns: null,
    colour: false,
    now: () => Date.now(),
    signal: interrupt.signal,
  });
  ended.then(() => ready.reject(new Error(`It ended early: ${said}`)));
  const url = await ready.promise;
  return {
    url,
    stop: () => {
      interrupt.abort();
      return ended;
    },
  };
}

Deno.test("console opens the pages of a ledger until it is stopped, with a page that follows", async () => {
  await using file = await temporaryLedger();
  await (await oddLedger(undefined, file.url)).close();
  const { url, stop } = await opened(["console", "--port=0"], {
    RAMPKIT_DATABASE_URL: file.url,
  });
  const page = await fetch(`${url}/attention`);
  assert.match(await page.text(), /What waits for a person/);
  const live = await fetch(`${url}/live`);
  const reader = live.body?.getReader();
  await reader?.read();
  assert.equal(await stop(), 0);
  await reader?.cancel().catch(() => {}); // It is closed by then.
});

Deno.test("console asks for a token where tokens are set", async () => {
  await using file = await temporaryLedger();
  await (await oddLedger([], file.url)).close();
  const { url, stop } = await opened(["console", "--port=0"], {
    RAMPKIT_DATABASE_URL: file.url,
    RAMPKIT_API_TOKENS: "read@anna:0123456789abcdef",
  });
  const page = await fetch(url, { headers: { accept: "text/html" } });
  assert.equal(page.status, 401);
  await page.body?.cancel();
  assert.equal(await stop(), 0);
});

Deno.test("console opens nothing without a ledger, to others without a token, or with a wrong table of explorers", async () => {
  await using file = await temporaryLedger();
  const env = { RAMPKIT_DATABASE_URL: file.url };
  const missing = await cli(["console", "--port=0"], env);
  assert.equal(missing.code, 2);
  assert.match(missing.err, /No ledger at file:.*: the file does not exist/);
  await (await oddLedger([], file.url)).close();
  const exposed = await cli(["console", "--host", "0.0.0.0"], env);
  assert.equal(exposed.code, 2);
  assert.match(exposed.err, /Wrong --host: "0\.0\.0\.0" is reached from other/);
  const table = `${file.folder}/explorers.json`;
  for (
    const [text, why] of [
      ["{", /cannot be read as JSON/],
      ["[]", /holds no JSON object/],
      ['{"ethereum":"javascript:{tx}"}', /"javascript:\{tx\}"; write one like/],
      ['{"ethereum":"https://x.example/"}', /the address of "ethereum"/],
    ] as const
  ) {
    await Deno.writeTextFile(table, text);
    const wrong = await cli(["console", "--explorers", table], env);
    assert.equal(wrong.code, 2, text);
    assert.match(wrong.err.replace(/\s+/g, " "), why);
  }
});

Deno.test("serve --console opens the pages beside the endpoint", async () => {
  await using file = await temporaryLedger();
  const { url, stop } = await opened(
    ["serve", "--no-poll", "--port=0", "--console", "0"],
    {
      RAMPKIT_DATABASE_URL: file.url,
      RAMPKIT_WEBHOOK_SECRET: "a-secret-of-this-test-0123",
    },
  );
  const page = await fetch(url);
  assert.match(await page.text(), /No order waits for a person/);
  assert.equal(await stop(), 0);
  const wrong = await cli(["serve", "--console-host", "0.0.0.0"], {
    RAMPKIT_DATABASE_URL: file.url,
    RAMPKIT_WEBHOOK_SECRET: "a-secret-of-this-test-0123",
  });
  assert.equal(wrong.code, 2);
  assert.match(
    wrong.err,
    /Missing --console: --console-host counts only with it/,
  );
});

import assert from "node:assert/strict";
import type { Frame, Page } from "playwright-core";
import { browserProgram } from "../../cli/demo/browser/browser_program.ts";
import { openLedger } from "../../ledger/mod.ts";
import { isBrowserMissing, withPage } from "../kit/browser.ts";
import { cli } from "../kit/cli.ts";
import { sendAs } from "../kit/send_as.ts";

const ignore = await isBrowserMissing();

/** A running `demo --browser`. */
interface Shop extends AsyncDisposable {
  /** Address of the page. */
  readonly url: string;
  /** Database of the ledger. */
  readonly databaseUrl: string;
  /** Presses Ctrl-C, and gives the exit code. */
  stop(): Promise<number>;
}

/** The demo's own program, as far as it says why it cannot start. */
async function refused(
  args: readonly string[],
): Promise<{ readonly code: number; readonly err: string }> {
  let err = "";
  const code = await browserProgram(args, {
    out: () => {},
    err: (text) => err += text,
    env: () => undefined,
    columns: null,
    colour: false,
    now: () => Date.now(),
    signal: AbortSignal.timeout(60_000),
  });
  return { code, err };
}

async function openShop(): Promise<Shop> {
  const folder = await Deno.makeTempDir({ prefix: "rampkit-shop-" });
  const interrupt = new AbortController();
  const ready = Promise.withResolvers<string>();
  let [out, err] = ["", ""];
  const ended = browserProgram(["--port=0", "--folder", folder], {
    out: (text) => {
      out += text;
      const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(out) ?? [];
      if (url !== undefined) ready.resolve(url);
    },
    err: (text) => err += text,
    env: () => undefined,
    columns: null,
    colour: false,
    now: () => Date.now(),
    signal: interrupt.signal,
  });
  ended.then(() => ready.reject(new Error(`It ended early: ${err}`)));
  const stop = () => {
    interrupt.abort();
    return ended;
  };
  return {
    url: await ready.promise,
    databaseUrl: `file:${folder}/ledger.db`,
    stop,
    [Symbol.asyncDispose]: async () => {
      await stop();
      await Deno.remove(folder, { recursive: true });
      assert.equal(err, "");
    },
  };
}

/** Presses one of the page's buttons without the page. */
async function press(
  shop: Shop,
  action: string,
  body: unknown = {},
  headers: Record<string, string> = { origin: shop.url },
): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(`${shop.url}/play/${action}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

Deno.test("the demo's shop refuses a page that points its own name here", async () => {
  await using shop = await openShop();
  const port = Number(new URL(shop.url).port);
  for (const path of ["POST /play/unpaid", "GET /", "POST /session"]) {
    const refused = await sendAs(`evil.example:${port}`, port, path);
    assert.match(refused, /^HTTP\/1\.1 403 /, path);
  }
  const taken = await sendAs(`localhost:${port}`, port, "POST /play/unpaid");
  assert.match(taken, /^HTTP\/1\.1 200 /);
});

/** Opens the shop's page, and gathers what the browser complains of. */
async function visit(page: Page, shop: Shop): Promise<string[]> {
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) {
      complaints.push(message.text());
    }
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  await page.goto(shop.url);
  await page.waitForSelector("#link.live");
  return complaints;
}

/** The widget's frame, once it can be used. */
async function widgetFrame(page: Page): Promise<Frame> {
  const element = await page.waitForSelector("iframe");
  const frame = await element.contentFrame();
  assert.ok(frame);
  await frame.waitForSelector("#pay:enabled");
  return frame;
}

/** Waits until the page shows a status with a trust. */
async function shows(page: Page, status: string, trust: string): Promise<void> {
  const state = `#now[data-status="${status}"][data-trust="${trust}"]`;
  await page.waitForSelector(state);
  assert.equal(await page.textContent("#status"), status);
  assert.equal(await page.textContent("#trust"), trust);
}

/** Waits until an element holds a text. */
async function holds(page: Page, selector: string, text: RegExp) {
  await page.locator(selector).filter({ hasText: text }).first().waitFor();
}

Deno.test({
  name: "the demo's page takes a person from Buy to a confirmed order",
  ignore,
  fn: async () => {
    await using shop = await openShop();
    await withPage(async (page) => {
      const complaints = await visit(page, shop);
      assert.equal(await page.isVisible("#none"), true);
      await page.dblclick("#buy");
      const frame = await widgetFrame(page);
      assert.equal(
        await frame.inputValue("#address"),
        await page.inputValue("#wallet"),
      );
      assert.equal(await frame.inputValue("#amount"), "25.50");
      await frame.click("#pay");
      await frame.click("#continue");
      await frame.waitForSelector("#headline.good");
      await frame.click("#done");
      await page.waitForSelector("iframe", { state: "detached" });
      await holds(page, "#shopSays", /says success: a hint/);
      assert.equal(await page.evaluate("document.activeElement.id"), "buy");

      await shows(page, "success", "confirmed");
      await holds(page, "#facts", /released, once/);
      await holds(page, "#facts", /basket 1 of customer-1/);
      assert.equal(await page.locator("#odd li").count(), 0);
      assert.equal(await page.locator("#track .confirmed").count(), 4);
      const events = await page.locator("#events .what b").allTextContents();
      assert.equal(events.at(-1), "The shop made a session");
      for (
        const title of [
          "Webhook payment_started",
          "Webhook transfer_started",
          "Webhook order_complete",
          "The service was asked",
        ]
      ) assert.ok(events.includes(title), `${title} in ${events}`);
      assert.equal(await page.locator("#orders button").count(), 1);
      const link = page.locator("footer a", { hasText: "The console" });
      const other = await page.context().browser()?.newPage();
      assert.ok(other);
      await other.goto(await link.getAttribute("href") ?? "");
      await holds(
        other,
        "tbody tr",
        /Success, as asked for\. Final\. Crypto was sent/,
      );
      await other.close();
      assert.deepEqual(complaints, []);

      // The page is still open, and must not keep the demo alive.
      assert.equal(await shop.stop(), 0);
      await page.waitForSelector("#link.gone");
    });
    await using ledger = await openLedger({
      url: shop.databaseUrl,
      worker: false,
    });
    const { orders } = await ledger.orders.page({});
    assert.deepEqual(
      orders.map(({ status, trust }) => [status, trust]),
      [["success", "confirmed"]],
    );
    assert.equal((await ledger.verify()).ok, true);
  },
});

Deno.test({
  name: "the demo's page shows a forged completion claimed, then contradicted",
  ignore,
  fn: async () => {
    await using shop = await openShop();
    await withPage(async (page) => {
      await visit(page, shop);
      assert.equal(await page.isDisabled("#forge"), true);
      await page.click("#unpaid");
      await shows(page, "progress", "confirmed");
      assert.equal(await page.isDisabled("#leap"), true);
      await page.click("#forge");
      await shows(page, "success", "claimed");
      await holds(page, "#cheatSays", /only claimed/);
      await holds(page, "#facts", /held until confirmed/);
      await holds(page, "#events li", /forged by you/);
      assert.equal(await page.locator("#track .claimed").count(), 2);
      await page.click("#leap");
      await shows(page, "progress", "confirmed");
      await holds(page, "#odd li", /contradicted.*the service shows progress/);
      await holds(page, "#cheatSays", /Caught/);
      await holds(page, "#facts", /held until confirmed/);
    });
  },
});

Deno.test({
  name: "the demo's page says why a wallet is refused, and opens nothing",
  ignore,
  fn: async () => {
    await using shop = await openShop();
    await withPage(async (page) => {
      await visit(page, shop);
      await page.fill("#wallet", "0x1234");
      await page.click("#buy");
      await holds(page, "#shopSays", /no wallet address/);
      assert.equal(await page.locator("iframe").count(), 0);
      assert.equal(await page.isEnabled("#buy"), true);
    });
  },
});

Deno.test("the demo's page is under a strict policy and loads all it names", async () => {
  await using shop = await openShop();
  const response = await fetch(shop.url);
  const page = await response.text();
  const policy = response.headers.get("content-security-policy") ?? "";
  const [, nonce] = /script-src 'nonce-([^']+)'(?:;|$)/.exec(policy) ?? [];
  assert.match(policy, /default-src 'none'/);
  assert.match(policy, /frame-src http:\/\/127\.0\.0\.1:\d+(;|$)/);
  assert.doesNotMatch(policy, /unsafe|\*/);
  assert.equal(page.split(`nonce="${nonce}"`).length - 1, 3);
  assert.doesNotMatch(page, /<script(?![^>]*(nonce=|application\/json))/);
  assert.doesNotMatch(page, /\son\w+=|\sstyle=/);
  const next = await (await fetch(shop.url)).text();
  assert.ok(!next.includes(`nonce="${nonce}"`), "a nonce is used once");

  const seen = new Set<string>();
  const queue = [...page.matchAll(/ src="(\/[^"]+)"/g)].map(([, path]) => path);
  assert.equal(queue.length, 2);
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    const { status, headers, text } = await read(`${shop.url}${path}`);
    assert.equal(status, 200, path);
    assert.match(headers.get("content-type") ?? "", /^text\/javascript/);
    for (const [, name] of text.matchAll(/^import .* from "(\..+)";$/gm)) {
      queue.push(new URL(name ?? "", `${shop.url}${path}`).pathname);
    }
  }
  assert.ok(seen.has("/widget/session/session_ticket.ts"), [...seen].join());
  for (
    const path of ["/widget/session/session_endpoint.ts", "/cli/main.ts", "/x"]
  ) {
    assert.equal((await read(`${shop.url}${path}`)).status, 404, path);
  }
});

Deno.test("the demo's buttons are the page's own, and forge only what is there", async () => {
  await using shop = await openShop();
  for (const headers of [{}, { origin: "https://other.example" }]) {
    assert.equal((await press(shop, "unpaid", {}, headers)).status, 403);
  }
  const unknown = await press(shop, "forge", { orderId: "01NOSUCHORDER" });
  assert.equal(unknown.status, 404);
  assert.equal((await press(shop, "forge", null)).status, 404);
  const long = { orderId: "x".repeat(2000) };
  const response = await fetch(`${shop.url}/play/forge`, {
    method: "POST",
    headers: { origin: shop.url },
    body: JSON.stringify(long),
  });
  assert.equal(response.status, 413);
  await response.body?.cancel();
});

Deno.test("the demo in a browser says what is wrong with its flags and its port", async () => {
  const crash = await cli(["demo", "--browser", "--crash"]);
  assert.equal(crash.code, 2);
  assert.match(crash.err, /--browser.*--crash/);
  const port = await cli(["demo", "--port", "8789"]);
  assert.equal(port.code, 2);
  assert.match(port.err, /--browser/);

  await using taken = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    () => new Response(),
  );
  const folder = await Deno.makeTempDir({ prefix: "rampkit-shop-" });
  try {
    const number = String(taken.addr.port);
    const { code, err } = await refused(
      ["--port", number, "--folder", folder],
    );
    assert.equal(code, 1);
    assert.match(err, /taken; pass another with --port/);
    assert.deepEqual([...Deno.readDirSync(folder)], []);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("the demo in a browser keeps the ledger that demo said stays", async () => {
  const folder = await Deno.makeTempDir({ prefix: "rampkit-shop-" });
  try {
    await cli(["demo", "--json", "--orders", "1", "--folder", folder]);
    const made = await Deno.stat(`${folder}/ledger.db`);
    const { code, err } = await refused(["--port=0", "--folder", folder]);
    assert.equal(code, 1);
    assert.match(err, /holds a ledger of `demo`/);
    assert.equal((await Deno.stat(`${folder}/ledger.db`)).ino, made.ino);
    const { out } = await cli(["demo", "--help"]);
    assert.match(
      out.replace(/\s+/g, " "),
      /default: rampkit-demo; with --browser: rampkit-demo-browser/,
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("rampkit demo --browser runs under the task's own permissions, until Ctrl-C", async () => {
  const root = new URL("../..", import.meta.url).pathname;
  const { tasks } = JSON.parse(await Deno.readTextFile(`${root}deno.json`));
  const [program, ...args] = String(tasks.demo.command).split(" ");
  assert.equal(program, "deno");
  const folder = await Deno.makeTempDir({ prefix: "rampkit-shop-" });
  const child = new Deno.Command("deno", {
    args: [...args, "--browser", "--port", "0", "--folder", folder],
    cwd: root,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const problems = new Response(child.stderr).text();
  try {
    let out = "";
    let shown = 0;
    for await (
      const part of child.stdout.pipeThrough(new TextDecoderStream())
    ) {
      out += part;
      const url = /Open (\S+) .*\n/.exec(out)?.[1];
      if (url === undefined || shown++ > 0) continue;
      const first = await fetch(`${url}/live`);
      assert.match(await firstEvent(first), /"orders":\[\]/);
      assert.equal(
        (await read(`${url}/widget/session/widget_opener.ts`)).status,
        200,
      );
      child.kill("SIGINT");
    }
    assert.equal((await child.status).code, 0);
    assert.equal(await problems, "");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** Reads a live line up to its first event, and hangs up. */
async function firstEvent(response: Response): Promise<string> {
  let text = "";
  assert.ok(response.body);
  for await (const part of response.body.pipeThrough(new TextDecoderStream())) {
    text += part;
    if (text.includes("\n\n")) break;
  }
  return text;
}

async function read(
  url: string,
): Promise<{ status: number; headers: Headers; text: string }> {
  const response = await fetch(url);
  const { status, headers } = response;
  return { status, headers, text: await response.text() };
}

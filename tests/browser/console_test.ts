import axe from "axe-core";
import assert from "node:assert/strict";
import { allNotes } from "../../ledger/testing/mod.ts";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { knownTokens } from "../../server/api/problem.ts";
import type { Access } from "../../server/console/access/access.ts";
import { EXPLORERS } from "../../server/console/context/page_context.ts";
import { Operations } from "../../server/api/operations.ts";
import { registerTarget } from "../../ledger/for_server.ts";
import {
  type ConsoleParts,
  openConsole,
} from "../../server/console/console_app.ts";
import type { Ledger, NewEvent } from "../../ledger/mod.ts";
import { isBrowserMissing, withPage } from "../kit/browser.ts";
import { isThorough } from "../kit/thorough.ts";
import {
  ODD_NOW_MS,
  ODD_ORDERS,
  ODD_USERS,
  oddDelivery,
  oddEvents,
  oddLedger,
  oddReading,
  oddWebhook,
  transactionOf,
} from "../kit/odd_ledger.ts";

const ignore = await isBrowserMissing();

/** Values as a stranger would send them. */
const HOSTILE = {
  id: `01K<script>globalThis.ran=1</script>"'&`,
  html: `"><img src=x onerror="globalThis.ran=2"><svg onload=globalThis.ran=3>`,
  turned: `\u202e\u2066abc\u200f\u061c`,
  link: `javascript:globalThis.ran=4`,
  huge: "W".repeat(1_000_000),
  wide: "\u{1F469}\u200d".repeat(5000),
};

const hostileEvents: readonly NewEvent[] = [
  oddReading(HOSTILE.id, "failed", 5, {
    external_order_id: HOSTILE.html,
    click_id: HOSTILE.huge,
    tx_id: HOSTILE.link,
    address: HOSTILE.wide,
    fail_reason: HOSTILE.html + HOSTILE.huge,
    currency: HOSTILE.turned,
    card_brand: HOSTILE.turned,
    changed_at: "2026-11-20T03:00:00Z",
  }),
  oddWebhook(HOSTILE.id, HOSTILE.html, 4, { quote: HOSTILE.huge }),
  oddDelivery(`{"type":${JSON.stringify(HOSTILE.html + HOSTILE.huge)}}`, 3),
  oddDelivery(`<script>globalThis.ran=5</script>${HOSTILE.turned}`, 2),
];

/** A console over an odd ledger, in a browser. */
interface Opened {
  readonly url: string;
  readonly ledger: Ledger;
  readonly browser: Browser;
  /** Takes the server away. */
  stop(): Promise<void>;
  /** Starts it again, at the same address. */
  start(): Promise<void>;
  /** A page in a profile of its own, and what it complained of. */
  visit(
    path: string,
    options?: BrowserContextOptions,
  ): Promise<{ readonly page: Page; readonly complaints: string[] }>;
}

async function withConsole(
  use: (opened: Opened) => Promise<void>,
  access: Access = { kind: "open", operates: true },
): Promise<void> {
  await using ledger = await oddLedger([...oddEvents(), ...hostileEvents]);
  const parts: ConsoleParts = {
    ledger,
    now: () => ODD_NOW_MS,
    access,
    hostNames: [],
    dashboardUrl: "https://dashboard.example",
    explorers: EXPLORERS,
    catchUp: () => Promise.resolve(),
    operations: new Operations({
      ...{ ledger, now: () => ODD_NOW_MS, poller: null, service: null },
      log: () => {},
      signal: new AbortController().signal,
    }),
    log: () => {},
  };
  const host = "127.0.0.1";
  let opened: Awaited<ReturnType<typeof openConsole>> | null =
    await openConsole(parts, { port: 0, host });
  const { url } = opened;
  const port = Number(new URL(url).port);
  const stop = async () => {
    const running = opened;
    opened = null;
    await running?.shutdown();
  };
  const start = async () => {
    opened = await openConsole(parts, { port, host });
  };
  try {
    await withPage(async (first) => {
      const browser = first.context().browser();
      assert.ok(browser !== null);
      const visit: Opened["visit"] = async (path, options = {}) => {
        const context = await browser.newContext(options);
        const page = await context.newPage();
        page.setDefaultTimeout(30_000);
        const complaints: string[] = [];
        page.on("console", (message) => {
          if (["error", "warning"].includes(message.type())) {
            complaints.push(message.text());
          }
        });
        page.on("pageerror", (error) => complaints.push(error.message));
        page.on("dialog", (dialog) => complaints.push(dialog.message()));
        page.on("request", (request) => {
          if (!request.url().startsWith(`${url}/`)) {
            if (!request.url().startsWith("data:")) {
              complaints.push(`It asked for ${request.url()}`);
            }
          }
        });
        await page.goto(url + path);
        return { page, complaints };
      };
      await use({ url, ledger, browser, visit, stop, start });
    });
  } finally {
    await stop();
  }
}

const hostilePath = `/orders/${encodeURIComponent(HOSTILE.id)}`;

const PATHS = [
  "/",
  "/search?q=01kq",
  "/search?q=nothing-like-it",
  `/orders/${ODD_ORDERS.reversed}`,
  hostilePath,
  `/users/${ODD_USERS.buyer}`,
  "/orders?status=failed&sort=oldest",
  "/orders?sort=oldest&asset=ETH&network=base",
  "/users",
  "/deliveries",
  "/deliveries?type=order_complete&day=2026-11-20",
  "/health",
  "/targets",
  "/search?q=anna%40example.com",
  "/attention",
  "/delivery",
  "/months",
  "/months/2026-11",
  "/no-such-page",
];

/** What axe finds, of whatever impact. */
async function findings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { found, passes }: {
    found: { id: string; impact: string; where: string }[];
    passes: number;
  } = await page.evaluate(`axe.run().then(({ passes, violations }) => ({
      passes: passes.length,
      found: violations.map((one) => ({
        id: one.id,
        impact: one.impact,
        where: one.nodes.map(({ html }) => html.slice(0, 120)).join(" | "),
      })),
    }))`);
  assert.ok(passes > 10, `axe looked at ${passes} rules`);
  return found.map(({ id, impact, where }) => `${id} (${impact}): ${where}`);
}

Deno.test({
  name:
    "every page of the console runs nothing of what it shows, asks nobody else, fits narrow screens, and has no finding of axe",
  ignore,
  fn: () =>
    withConsole(async ({ visit }) => {
      for (
        const [turn, options] of ([
          { colorScheme: "light", viewport: { width: 1180, height: 800 } },
          { colorScheme: "dark", viewport: { width: 360, height: 740 } },
        ] as const).entries()
      ) {
        const { page, complaints } = await visit("/", options);
        const { width } = options.viewport;
        const found: string[] = [];
        for (const [place, path] of PATHS.entries()) {
          // Where there is less time, each page is looked at in one of both.
          if (!isThorough && place % 2 !== turn && path !== hostilePath) {
            continue;
          }
          const at = `${path} (${options.colorScheme}, ${width})`;
          if (path !== "/") {
            await page.goto(new URL(path, page.url()).href);
          }
          await page.waitForSelector("#health");
          const seen: {
            readonly ran: unknown;
            readonly scrolls: boolean;
            readonly wide: number;
            readonly height: number;
            readonly left: number;
          } = await page.evaluate(`({
            ran: globalThis.ran ?? null,
            scrolls: document.documentElement.scrollWidth > innerWidth,
            wide: [...document.querySelectorAll(".scroll")].filter(
              (box) => box.scrollWidth > box.clientWidth).length,
            height: document.documentElement.scrollHeight,
            left: document.querySelector("main").getBoundingClientRect().left,
          })`);
          assert.equal(seen.ran, null, at);
          assert.equal(seen.scrolls, false, at);
          assert.ok(width > 640 || seen.wide === 0, `${at}: wide tables`);
          assert.ok(seen.height < 14_000, `${at}: ${seen.height} high`);
          assert.ok(seen.left >= 8, at);
          assert.match(await page.title(), /^[A-Z][a-z ]+\b.* - Rampkit$/, at);
          for (const one of await findings(page)) found.push(`${at}: ${one}`);
        }
        assert.deepEqual(found, []);
        // The page that is not there is answered with 404.
        assert.deepEqual(
          complaints.filter((text) => !/status of 404/.test(text)),
          [],
        );
        await page.context().close();
      }
    }),
});

Deno.test({
  name:
    "the first screen of a phone shows the order, and not the bars above it",
  ignore,
  fn: () =>
    withConsole(async ({ visit }) => {
      const { page } = await visit(`/orders/${ODD_ORDERS.mismatch}`, {
        viewport: { width: 390, height: 844 },
      });
      const endOf = async (selector: string) =>
        (await page.locator(selector).first().boundingBox())?.y ?? Infinity;
      assert.ok(await endOf("h1.verdict") < 300);
      assert.ok(await endOf(".money") < 500);
      assert.ok(await endOf(".release") < 600);
    }),
});

Deno.test({
  name:
    "a person gets from the search box to what is true of an order, by keyboard alone",
  ignore,
  fn: () =>
    withConsole(async ({ visit }) => {
      const { page, complaints } = await visit("/");
      const answers: Record<string, RegExp> = {
        FAILED: /^Failed: the card's issuer declined the payment/,
        pendin: /^Paid, and not sent yet/,
        [ODD_ORDERS.forged.toLowerCase()]: /^Unknown to the service/,
        REVERS: /took it back\./,
        [`click-${ODD_ORDERS.refund}`]: /the service should refund/i,
      };
      for (const [text, answer] of Object.entries(answers)) {
        await page.focus("#q");
        await page.fill("#q", text);
        await page.keyboard.press("Enter");
        await page.waitForSelector("h1.verdict");
        assert.match(await page.textContent("h1.verdict") ?? "", answer, text);
        assert.ok(await page.isVisible("#message"));
      }
      await page.goto(new URL("/", page.url()).href);
      await page.keyboard.press("Tab");
      assert.equal(
        await page.evaluate("document.activeElement.textContent"),
        "To the page",
      );
      await page.keyboard.press("Enter");
      assert.equal(await page.evaluate("document.activeElement.id"), "main");
      assert.deepEqual(complaints, []);
    }),
});

Deno.test({
  name:
    "the console's copy button copies what to tell, and the health bar follows",
  ignore,
  fn: () =>
    withConsole(async ({ visit }) => {
      const { page } = await visit(`/orders/${ODD_ORDERS.success}`, {
        permissions: ["clipboard-read", "clipboard-write"],
      });
      // It says so for two seconds.
      const said = page.waitForSelector('[data-copy="message"]:text("Copied")');
      await page.click('[data-copy="message"]');
      await said;
      const copied = await page.evaluate<string>(
        "navigator.clipboard.readText()",
      );
      assert.match(copied, /^About your order SUCCES: Your order is complete/);
      const live = page.waitForResponse((one) => one.url().endsWith("/live"));
      await page.reload();
      assert.equal((await live).status(), 200);
    }),
});

Deno.test({
  name:
    "a page of the console says since when its server is gone, within ten seconds, greys the health bar, and comes back by itself",
  ignore,
  fn: () =>
    withConsole(async ({ visit, stop, start }) => {
      const { page } = await visit("/");
      await page.clock.install();
      const live = page.waitForResponse((one) => one.url().endsWith("/live"));
      await page.reload();
      await live;
      assert.equal(await page.isVisible("#gone"), false);
      await stop();
      await page.clock.fastForward(10_000);
      assert.equal(await page.isVisible("#gone"), true);
      assert.match(
        await page.textContent("#gone") ?? "",
        /^No connection since \d\d:\d\d:\d\d UTC: what you see is from then\.$/,
      );
      assert.equal(await page.getAttribute("#health", "class"), "health stale");
      await start();
      await page.waitForSelector("#gone", { state: "hidden" });
      assert.equal(await page.getAttribute("#health", "class"), "health");
    }),
});

Deno.test({
  name:
    "a person sorts the list of orders by its headings, and the address keeps it",
  ignore,
  fn: () =>
    withConsole(async ({ visit }) => {
      const { page, complaints } = await visit("/orders?status=pending");
      const orders = async () =>
        await page.locator('td[data-title="Order"]').allTextContents();
      const sorted = async (heading: string, direction: string) => {
        await page.click(`th a:has-text("${heading}")`);
        await page.waitForSelector(
          `th[aria-sort="${direction}"]:has-text("${heading}")`,
        );
        return new URL(page.url()).search;
      };
      const newest = await orders();
      assert.ok(newest.length > 1);
      assert.equal(
        await sorted("Created", "ascending"),
        "?status=pending&sort=oldest",
      );
      assert.deepEqual(await orders(), newest.toReversed());
      assert.equal(await page.inputValue("#sort"), "oldest");
      await sorted("Created", "descending");
      assert.equal(await page.inputValue("#sort"), "");
      assert.deepEqual(complaints, []);
    }),
});

Deno.test({
  name:
    "a person sends again what a target refused, stops it and resumes it, by three clicks",
  ignore,
  fn: () =>
    withConsole(async ({ visit, ledger }) => {
      const heard: string[] = [];
      let refuses = true;
      const handled = await ledger.subscribe(
        "shop",
        { on: "order.*.*", from: "start", start: false, maxAttempts: 1 },
        ({ key }) => {
          if (refuses) throw new Error("HTTP 500");
          heard.push(key);
        },
      );
      await handled.dispatch();
      await registerTarget(ledger.driver, "shop", "https://shop.example/in");
      const { page, complaints } = await visit("/targets");
      await page.click('a:text("shop")');
      await page.waitForSelector("#dead");
      assert.match(await page.textContent("#main") ?? "", /HTTP 500/);
      const stop = 'button:text("Stop: send nothing until resumed")';
      await page.click(stop);
      await page.waitForSelector('h1.verdict:text("switched off")');
      await page.click('button:text("Resume")');
      await page.waitForSelector(stop);
      refuses = false;
      await page.click('button:text("Send again now")');
      await page.waitForSelector("#dead", { state: "detached" });
      while ((await handled.dispatch()).delivered > 0);
      assert.ok(heard.length > 1);
      await page.reload();
      assert.match(
        await page.textContent("#main") ?? "",
        /Nothing: it has received all/,
      );
      assert.deepEqual(complaints, []);
    }),
});

Deno.test({
  name: "an order's page on paper is dark on white, without forms",
  ignore,
  fn: () =>
    withConsole(async ({ visit }) => {
      const { page } = await visit(`/orders/${ODD_ORDERS.success}`, {
        colorScheme: "dark",
      });
      await page.emulateMedia({ media: "print" });
      const seen: Record<string, unknown> = await page.evaluate(`({
        paper: getComputedStyle(document.body).backgroundColor,
        verdict: getComputedStyle(document.querySelector("h1.verdict")).color,
        text: getComputedStyle(document.querySelector("#message")).color,
        nav: getComputedStyle(document.querySelector("nav")).display,
        search: getComputedStyle(document.querySelector(".search")).display,
        buttons: [...document.querySelectorAll("#main button")].filter(
          (one) => one.offsetParent !== null).length,
      })`);
      const { paper, verdict, text, ...rest } = seen;
      assert.equal(paper, "rgb(255, 255, 255)");
      for (const colour of [verdict, text]) {
        const [, ...parts] = /^rgb\((\d+), (\d+), (\d+)\)$/.exec(
          String(colour),
        ) ?? [];
        assert.equal(parts.length, 3, `${colour}`);
        assert.ok(Math.max(...parts.map(Number)) < 180, `${colour} on paper`);
      }
      assert.deepEqual(rest, { nav: "none", search: "none", buttons: 0 });
    }),
});

Deno.test({
  name:
    "a page of the console changes in place and keeps focus and open parts, and a list has a button for it",
  ignore,
  fn: () =>
    withConsole(async ({ visit, ledger }) => {
      const { page } = await visit(`/orders/${ODD_ORDERS.pending}`);
      const list = await visit("/orders");
      await page.click("text=Everything that is known of it");
      await page.focus("#main summary");
      await ledger.append([
        oddReading(ODD_ORDERS.pending, "success", 1, {
          changed_at: "2026-11-20T11:58:30Z",
        }),
      ]);
      await ledger.project();
      await page.waitForSelector("h1.verdict:text('Success')");
      assert.equal(
        await page.evaluate("document.activeElement.tagName"),
        "SUMMARY",
      );
      assert.equal(
        await page.evaluate(
          "[...document.querySelectorAll('#main details')].at(-1).open",
        ),
        true,
      );
      await list.page.click("#changed button");
      await list.page.waitForSelector("#changed", { state: "hidden" });
      assert.match(
        await list.page.textContent(`tr:has-text("${ODD_ORDERS.pending}")`) ??
          "",
        /success/,
      );
      assert.deepEqual(list.complaints, []);
    }),
});

Deno.test({
  name:
    "support answers each of six questions in two steps, and whoever is on call comes from an alarm to the next step in two",
  ignore,
  fn: () =>
    withConsole(async ({ visit }) => {
      const { page, complaints } = await visit("/");
      const questions: readonly {
        readonly asks: string;
        readonly paste: string;
        readonly click?: string;
        readonly answer: RegExp;
      }[] = [
        {
          asks: "Where is my order?",
          paste: "order pendin",
          answer: /Paid, and not sent yet/,
        },
        {
          asks: "Was I charged twice?",
          paste: ODD_ORDERS.success,
          answer: /Paid twice\?\s*(No|Perhaps|Yes)/,
        },
        {
          asks: "Why was it declined?",
          paste: "#FAILED",
          answer: /the card's issuer declined the payment/,
        },
        {
          asks: "Where did the crypto go?",
          paste: `https://etherscan.io/tx/${transactionOf(ODD_ORDERS.success)}`,
          answer: /The transaction at a public explorer/,
        },
        {
          asks: "Do I get my money back?",
          paste: `click-${ODD_ORDERS.refund}`,
          answer: /What to tell the customer[^]*About your order/,
        },
        {
          asks: "Why can I not buy?",
          paste: ODD_ORDERS.failed,
          click: `#names ~ dl a[href="/users/${ODD_USERS.buyer}"]`,
          answer: /What to tell the customer[^]*You are verified/,
        },
      ];
      for (const { asks, paste, click, answer } of questions) {
        let steps = 1;
        await page.fill("#q", paste);
        await page.keyboard.press("Enter");
        await page.waitForSelector("#tell");
        if (click !== undefined) {
          steps++;
          await page.click(click);
          await page.waitForSelector("h1.verdict:text('Verified')");
        }
        assert.match(await page.textContent("#main") ?? "", answer, asks);
        assert.ok(steps <= 2, asks);
      }
      await page.goto(new URL("/", page.url()).href);
      await page.click(".told a:has-text('Backlog')");
      await page.waitForSelector("#confirmations_waiting");
      assert.match(
        await page.textContent("#confirmations_waiting") ?? "",
        /Next:\s*Check that serve or poll runs/,
      );
      assert.deepEqual(complaints, []);
    }),
});

Deno.test({
  name:
    "the console's times stand in the reader's zone beside UTC where that is wanted, and stay so",
  ignore,
  fn: () =>
    withConsole(async ({ visit }) => {
      const { page } = await visit(`/orders/${ODD_ORDERS.success}`, {
        timezoneId: "Asia/Tokyo",
      });
      assert.equal(await page.locator(".local").count(), 0);
      await page.click("#times");
      assert.match(
        await page.locator("#main .local").first().textContent() ?? "",
        /^2026-11-20 17:40:00 UTC\+09:00$/,
      );
      await page.reload();
      assert.ok(await page.locator("#main .local").count() > 3);
    }),
});

Deno.test({
  name:
    "the console works without script: search, say that somebody deals with it, and read the note",
  ignore,
  fn: () =>
    withConsole(async ({ visit, ledger }) => {
      const { page } = await visit("/", { javaScriptEnabled: false });
      await page.fill("#q", ODD_ORDERS.refund);
      await page.click(".search button");
      await page.click("text=Note or acknowledge");
      await page.fill('textarea[name="text"]', "asked <b>them</b>");
      await page.click('button[value="acknowledge"]');
      await page.waitForSelector("ul.notes");
      const said = await page.textContent("ul.notes") ?? "";
      assert.match(said, /local acknowledged it/);
      assert.match(said, /asked <b>them<\/b>/);
      const notes = await allNotes(ledger.driver);
      assert.deepEqual(notes.map(({ reasons }) => reasons), [["refund_due"]]);
    }),
});

Deno.test({
  name:
    "a person signs in to the console with a token, comes to the page that was wanted, and signs out",
  ignore,
  fn: () =>
    withConsole(
      async ({ visit, url }) => {
        const { page } = await visit("/attention");
        await page.fill("#token", "a wrong token");
        await page.keyboard.press("Enter");
        await page.waitForSelector('[role="alert"]');
        await page.fill("#token", "a-token-for-this-test");
        await page.keyboard.press("Enter");
        await page.waitForSelector("h1:text('What waits for a person')");
        assert.equal(page.url(), `${url}/attention`);
        const cookies = await page.context().cookies();
        assert.deepEqual(
          cookies.map(({ httpOnly, sameSite }) => [httpOnly, sameSite]),
          [[true, "Strict"]],
        );
        assert.equal(await page.evaluate("document.cookie"), "");
        await page.click("text=Sign out");
        await page.waitForSelector("#token");
        await page.goto(`${url}/delivery`);
        await page.waitForSelector("#token");
      },
      {
        kind: "tokens",
        tokens: knownTokens([
          { token: "a-token-for-this-test", name: "anna", scope: "read" },
        ]) ?? { callerOf: () => null },
      },
    ),
});

import assert from "node:assert/strict";
import type { Frame, Page } from "playwright-core";
import { OnrampClient } from "../../client/mod.ts";
import type { Ledger } from "../../ledger/mod.ts";
import { createPoller } from "../../sync/mod.ts";
import { type ServedSandbox, serveSandbox } from "../../sandbox/mod.ts";
import { webhookEndpoint } from "../../webhooks/mod.ts";
import {
  sessionEndpoint,
  type SessionRecord,
  widgetOptions,
} from "../../widget/mod.ts";
import { isBrowserMissing, withPage } from "../kit/browser.ts";
import { bundle } from "../kit/bundle.ts";
import { until } from "../kit/until.ts";
import { readGuide } from "../guides/guide.ts";
import { emptyLedger } from "../../ledger/testing/mod.ts";

const ignore = await isBrowserMissing();
const wallet = `0x${"c0".repeat(20)}`;

let script: Promise<string> | undefined;

/** A shop: its page, its session endpoint, its ledger, and the service. */
interface Shop extends AsyncDisposable {
  readonly served: ServedSandbox;
  readonly url: string;
  readonly client: OnrampClient;
  readonly ledger: Ledger;
  readonly records: SessionRecord[];
  /** A session made just now. */
  session(): Promise<string>;
  /** Serves one more document. */
  page(path: string, respond: () => Promise<Response>): void;
}

async function openShop(): Promise<Shop> {
  const ledger = await emptyLedger({
    environment: "test",
    assets: "sandbox",
  });
  const records: SessionRecord[] = [];
  const pages = new Map<string, () => Promise<Response>>();
  const webhooks = webhookEndpoint({
    append: ledger.appendDelivery,
    secrets: ["a-secret-of-the-tests"],
  });
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    (request, info) => {
      const { pathname } = new URL(request.url);
      if (pathname.startsWith("/webhooks/")) return webhooks(request, info);
      if (pathname === "/session") return sessions(request);
      return pages.get(pathname)?.() ?? new Response(null, { status: 404 });
    },
  );
  const url = `http://127.0.0.1:${server.addr.port}`;
  const served = await serveSandbox({
    port: 0,
    webhookUrl: `${url}/webhooks/a-secret-of-the-tests`,
  });
  const client = new OnrampClient({
    environment: {
      name: "test",
      baseUrl: served.url,
      cardsBaseUrl: served.url,
      widgetOrigin: served.url,
      dashboardUrl: served.url,
      assets: "sandbox",
    },
    apiKey: served.sandbox.apiKey,
    requestsPerSecond: 1_000,
  });
  const sessions = sessionEndpoint({
    authorise: () => ({ id: "user-1" }),
    plan: ({ user, input }) => ({
      session: {
        flow_type: "simple_full_restrict" as const,
        commodity: "TT",
        network: "amoy",
        currency: "USD" as const,
        currency_amount: "25.50",
        wallet_address: wallet,
      },
      reference: `${user.id} ${JSON.stringify(input)}`,
    }),
    createSession: (session) => client.sessions.create(session),
    recordSession: async (record) => {
      await ledger.recordSession(record);
      records.push(record);
    },
  });
  const html = "<!doctype html><title>Shop</title><button>Buy</button>" +
    '<script src="/page.js"></script>';
  pages.set("/", () => {
    const headers = { "content-type": "text/html" };
    return Promise.resolve(new Response(html, { headers }));
  });
  pages.set("/page.js", async () => {
    script ??= bundle("widget_page.ts");
    const headers = { "content-type": "text/javascript; charset=utf-8" };
    return new Response(await script, { headers });
  });
  return {
    served,
    url,
    client,
    ledger,
    records,
    session: async () => {
      const session = await client.sessions.create({ flow_type: "simple" });
      return session.sessionId;
    },
    page: (path, respond) => void pages.set(path, respond),
    [Symbol.asyncDispose]: async () => {
      await served.close();
      await server.shutdown();
      await webhooks.drain();
      await ledger.close();
    },
  };
}

/** Runs a script in the shop's page. */
function run<T>(page: Page | Frame, text: string): Promise<T> {
  return page.evaluate<T>(text);
}

/** Opens the widget with options that the page checks itself. */
async function openWidget(
  page: Page,
  shop: Shop,
  input: Record<string, unknown>,
): Promise<Frame> {
  await page.goto(shop.url);
  const environment = { widgetOrigin: shop.served.url, assets: "sandbox" };
  const options = { partner_id: shop.served.sandbox.partnerId, ...input };
  await run(
    page,
    `{
      const seen = globalThis.seen = [];
      const listeners = {};
      for (const name of rampkit.listenerNames) {
        listeners[name] = (event) => seen.push([name, event]);
      }
      const options = rampkit.widgetOptions(
        { ...${JSON.stringify(options)}, listeners },
        { environment: ${JSON.stringify(environment)} },
      );
      globalThis.widget = new WertWidget(options);
      widget.open();
    }`,
  );
  return await widgetFrame(page);
}

/** The widget's frame, once it has told the page that it is there. */
async function widgetFrame(page: Page): Promise<Frame> {
  const element = await page.waitForSelector("iframe");
  const frame = await element.contentFrame();
  assert.ok(frame);
  await frame.waitForSelector("#card");
  return frame;
}

/** What the listeners were told, by name. */
async function seen(page: Page): Promise<[string, unknown][]> {
  return await run(page, "seen");
}

Deno.test({
  name: "the widget's address carries each option as the service wants it",
  ignore,
  fn: async () => {
    await using shop = await openShop();
    const session_id = await shop.session();
    await withPage(async (page) => {
      await openWidget(page, shop, {
        session_id,
        click_id: "click-1",
        phone: "+11014321111",
        redirect_url: "https://shop.example/back?a=1&b=2",
        support_url: "https://shop.example/help#now",
        commodity: "TT",
        network: "amoy",
        commodities: [
          { commodity: "TT", network: "amoy" },
          { commodity: "POL", network: "amoy" },
        ],
        currencies: ["USD"],
        address: wallet,
        commodity_amount: "0.10",
        currency_amount: "25.50",
        payment_method: ["apple-pay", "card"],
        payment_method_restriction: true,
        display_currency: "AUD",
        hide_fee_breakdown: false,
        user_id: "01K88HMYQAK47DSWB9RM3ZBNTP",
        country_of_residence: "US",
        state_of_residence: "CA",
        date_of_birth: "1990-04-03",
        email: "some+one@mail.example",
        full_name: "Ada Lovelace",
        card_country_code: "US",
        card_city: "São Paulo & Co",
        card_state_code: "NY",
        card_post_code: "12345",
        card_street: "1 Church St #2 = 50%",
        lang: "fr",
        skip_init_navigation: true,
        theme: "dark",
        brand_color: "#FF0000",
        sc_address: wallet,
        sc_input_data: "0x00ff",
        signature: "c2ln+/=",
        is_crypto_hidden: false,
        terms_on_payment: true,
        is_auto_logout_on_order_complete_enabled: false,
        is_session_expire_on_email_mismatch: true,
        extra: { item_info: { name: "Ape" } },
      });
      const src = await page.getAttribute("iframe", "src") ?? "";
      const url = new URL(src);
      const { partnerId } = shop.served.sandbox;
      assert.equal(url.origin, shop.served.url);
      assert.equal(url.pathname, `/${partnerId}/widget`);
      assert.deepEqual(Object.fromEntries(url.searchParams), {
        session_id,
        click_id: "click-1",
        phone: "+11014321111",
        redirect_url: "https://shop.example/back?a=1&b=2",
        support_url: "https://shop.example/help#now",
        commodity: "TT",
        network: "amoy",
        commodities: '[{"commodity":"TT","network":"amoy"},' +
          '{"commodity":"POL","network":"amoy"}]',
        currencies: '["USD"]',
        address: wallet,
        commodity_amount: "0.1",
        currency_amount: "25.5",
        payment_method: '["apple-pay","card"]',
        payment_method_restriction: "true",
        display_currency: "AUD",
        user_id: "01K88HMYQAK47DSWB9RM3ZBNTP",
        country_of_residence: "US",
        state_of_residence: "CA",
        date_of_birth: "04/03/1990",
        email: "some+one@mail.example",
        full_name: "Ada Lovelace",
        card_country_code: "US",
        card_city: "São Paulo & Co",
        card_state_code: "NY",
        card_post_code: "12345",
        card_street: "1 Church St #2 = 50%",
        lang: "fr",
        skip_init_navigation: "true",
        theme: "dark",
        brand_color: "#FF0000",
        sc_address: wallet,
        sc_input_data: "0x00ff",
        signature: "c2ln+/=",
        terms_on_payment: "true",
        is_session_expire_on_email_mismatch: "true",
        // The SDK's own.
        widget_layout_mode: "Modal",
        await_data: "true",
      });
      const names = [...url.searchParams.keys()];
      assert.equal(new Set(names).size, names.length);
    });
  },
});

Deno.test({
  name:
    "extra arrives by message once the widget has loaded, not in the address",
  ignore,
  fn: async () => {
    await using shop = await openShop();
    const session_id = await shop.session();
    const extra = {
      item_info: { name: "Ape", image_url: "https://shop.example/ape.png" },
      wallets: [{ name: "TT", network: "amoy", address: wallet }],
    };
    await withPage(async (page) => {
      await page.addInitScript(`
        globalThis.messages = [];
        addEventListener("message", ({ data }) => messages.push(data));
      `);
      const asset = { commodity: "TT", network: "amoy" };
      const frame = await openWidget(page, shop, {
        session_id,
        ...asset,
        extra,
      });
      const received = () =>
        run<{ type: string; data: unknown }[]>(frame, "messages");
      await until(
        async () => (await received()).some(({ type }) => type === "extra"),
        "extra",
      );
      const [message, ...more] = (await received()).filter(({ type }) => {
        return type === "extra";
      });
      assert.deepEqual(message?.data, extra);
      assert.deepEqual(more, []);
      assert.equal(await frame.inputValue("#address"), wallet);
      const src = await page.getAttribute("iframe", "src") ?? "";
      assert.equal(new URL(src).searchParams.has("extra"), false);
    });
  },
});

Deno.test({
  name: "listeners are told parsed events, and close takes the widget away",
  ignore,
  fn: async () => {
    await using shop = await openShop();
    const session_id = await shop.session();
    await withPage(async (page) => {
      const frame = await openWidget(page, shop, {
        session_id,
        commodity: "TT",
        network: "amoy",
        currency_amount: "25.50",
      });
      await until(async () => (await seen(page)).length >= 3, "events");
      const events = Object.fromEntries(await seen(page));
      assert.deepEqual(Object.keys(events).sort(), [
        "loaded",
        "position",
        "rate-update",
      ]);
      assert.deepEqual(events.position, { step: "checkout" });
      const rate = events["rate-update"] as Record<string, string>;
      assert.equal(rate.currencyAmount, "25.5");
      assert.equal(rate.feePercent, "5");
      assert.equal(await run(page, "document.body.style.overflow"), "hidden");
      await frame.click("#close");
      await page.waitForSelector("iframe", { state: "detached" });
      assert.equal((await seen(page)).at(-1)?.[0], "close");
      assert.equal(await run(page, "document.body.style.overflow"), "");
    });
  },
});

Deno.test({
  name:
    "a session that was used is refused by the widget, and said to a listener",
  ignore,
  fn: async () => {
    await using shop = await openShop();
    const session_id = await shop.session();
    await withPage(async (page) => {
      await openWidget(page, shop, { session_id });
      await openWidget(page, shop, { session_id });
      const errors = async () =>
        (await seen(page)).filter(([name]) => name === "error");
      await until(async () => (await errors()).length > 0, "the refusal");
      assert.equal(
        ((await errors())[0]?.[1] as { name: string }).name,
        "session_used",
      );
    });
  },
});

Deno.test({
  name: "theme and brand colour reach the widget, and can be switched",
  ignore,
  fn: async () => {
    await using shop = await openShop();
    const session_id = await shop.session();
    const theme = "document.documentElement.dataset.theme";
    const brand =
      'document.documentElement.style.getPropertyValue("--brand").trim()';
    await withPage(async (page) => {
      const frame = await openWidget(page, shop, {
        session_id,
        theme: "dark",
        brand_color: "#FF8800",
      });
      assert.equal(await run(frame, theme), "dark");
      assert.equal(await run(frame, brand), "#FF8800");
      await run(
        page,
        'widget.updateTheme({ theme: undefined, brand_color: "#0044AA" })',
      );
      await until(
        async () => await run(frame, brand) === "#0044AA",
        "the new colour",
      );
      assert.equal(await run(frame, theme), "light");
    });
  },
});

/** A Buy button, as a page of one's own would wire it. */
const buyButton = (shop: Shop): string => `
  globalThis.hints = [];
  globalThis.opener = new rampkit.WidgetOpener({
    Widget: WertWidget,
    draft: rampkit.draftOptions({
      partner_id: ${JSON.stringify(shop.served.sandbox.partnerId)},
      listeners: { "payment-status": (hint) => hints.push(hint) },
    }, {
      environment: {
        widgetOrigin: ${JSON.stringify(shop.served.url)},
        assets: "sandbox",
      },
    }),
    askSession: ({ signal }) =>
      rampkit.fetchSession("/session", { input: { basket: 7 }, signal }),
  });
  document.querySelector("button").onclick = () => {
    globalThis.opening = opener.open();
  };
`;

Deno.test({
  name: "a click on Buy ends in a confirmed order in the ledger",
  ignore,
  fn: async () => {
    await using shop = await openShop();
    const { ledger } = shop;
    const { sandbox } = shop.served;
    await withPage(async (page) => {
      await page.goto(shop.url);
      await run(page, buyButton(shop));
      assert.equal(shop.records.length, 0);
      await page.dblclick("button");
      const frame = await widgetFrame(page);
      assert.equal(shop.records.length, 1);
      assert.equal(await frame.inputValue("#address"), wallet);
      await frame.click("#pay");
      await frame.click("#continue");
      await frame.waitForSelector("#headline.good");
      await frame.click("#done");
      await page.waitForSelector("iframe", { state: "detached" });
      assert.equal(await run(page, "opener.state"), "closed");

      const [order, ...more] = sandbox.orders();
      assert.equal(more.length, 0);
      assert.equal(order?.status, "success");
      const hints = await run<Record<string, unknown>[]>(page, "hints");
      assert.deepEqual(
        hints.map(({ trust, status }) => `${status} (${trust})`),
        ["pending (hint)", "pending (hint)", "success (hint)"],
      );
      assert.equal(hints.at(-1)?.orderId, order?.orderId);
      assert.equal(hints.at(-1)?.txId, order?.txId);
    });

    const orderId = sandbox.orders()[0]?.orderId ?? "";
    const known = async () => {
      await ledger.project();
      return await ledger.orders.get(orderId);
    };
    await until(
      async () => (await known())?.status === "success",
      "webhooks",
    );
    const claimed = await known();
    assert.equal(claimed?.trust, "claimed");
    assert.deepEqual(claimed?.activity.counts, {
      payment_started: 1,
      transfer_started: 1,
      order_complete: 1,
    });

    const { client } = shop;
    const poller = createPoller({ ledger, client, requestsPerSecond: 100 });
    await poller.once({ sweeps: ["confirm"] });
    const confirmed = await known();
    assert.equal(confirmed?.status, "success");
    assert.equal(confirmed?.trust, "confirmed");
    assert.equal(confirmed?.clickId, shop.records[0]?.click_id);
    assert.equal(confirmed?.expected?.reference, 'user-1 {"basket":7}');
    assert.equal(confirmed?.currencyAmount, "25.50");
    assert.equal(confirmed?.address, wallet);
    assert.deepEqual(confirmed?.anomalies, []);
  },
});

Deno.test({
  name: "each click on Buy has a session of its own",
  ignore,
  fn: async () => {
    await using shop = await openShop();
    await withPage(async (page) => {
      await page.goto(shop.url);
      await run(page, buyButton(shop));
      for (let click = 1; click <= 2; click++) {
        await page.click("button");
        const frame = await widgetFrame(page);
        await frame.click("#close");
        await page.waitForSelector("iframe", { state: "detached" });
        assert.equal(shop.records.length, click);
      }
      const [first, second] = shop.records;
      assert.notEqual(first?.session_id, second?.session_id);
      assert.notEqual(first?.click_id, second?.click_id);
    });
  },
});

Deno.test({
  name: "a page on a listed origin gets a session, signed in by cookie",
  ignore,
  fn: async () => {
    await using shop = await openShop();
    const endpoint = sessionEndpoint({
      authorise: ({ headers }) => headers.get("cookie"),
      plan: () => ({ session: {}, reference: "basket-1" }),
      createSession: () => Promise.resolve({ sessionId: "s-1" }),
      recordSession: () => Promise.resolve(),
      allowedOrigins: [shop.url],
      report: () => {},
    });
    await using elsewhere = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen: () => {} },
      endpoint,
    );
    const url = `http://127.0.0.1:${elsewhere.addr.port}/session`;
    await withPage(async (page) => {
      await page.goto(shop.url);
      const ask = (credentials: string) =>
        run(
          page,
          `document.cookie = "login=1";
          rampkit.fetchSession(${JSON.stringify(url)}, { ${credentials} }).then(
            (ticket) => ticket.take(Date.now()),
            ({ code, status }) => code + " " + status,
          )`,
        );
      assert.equal(await ask('credentials: "include"'), "s-1");
      assert.equal(await ask(""), "refused 401");
    });
  },
});

Deno.test({
  name:
    "the guide's WebView page opens the widget under its strict policy, and tells the app",
  ignore,
  fn: async () => {
    await using shop = await openShop();
    const { files } = await readGuide("docs/guides/webview.md");
    const served = files.get("webview.mjs") ?? "";
    const { webviewPage } = await import(
      `data:text/javascript,${encodeURIComponent(served)}`
    );
    const script = (files.get("webview.js") ?? "").replace(/^import .*$/m, "");
    const sdk = await bundle("wert_script.ts");
    shop.page("/webview.js", () => {
      const headers = { "content-type": "text/javascript; charset=utf-8" };
      return Promise.resolve(new Response(sdk + script, { headers }));
    });
    shop.page("/app", async () =>
      webviewPage(widgetOptions({
        partner_id: shop.served.sandbox.partnerId,
        session_id: await shop.session(),
        theme: "dark",
        card_street: "</script><script>window.isBroken = true</script>",
      }, {
        environment: { widgetOrigin: shop.served.url, assets: "sandbox" },
      })));
    await withPage(async (page) => {
      const complaints: string[] = [];
      page.on("console", (message) => {
        if (message.type() === "error") complaints.push(message.text());
      });
      page.on("pageerror", (error) => complaints.push(error.message));
      await page.addInitScript(`
          globalThis.told = [];
          globalThis.rampkit = { postMessage: (text) => told.push(text) };
        `);
      await page.goto(`${shop.url}/app`);
      const frame = await widgetFrame(page);
      const told = async () =>
        (await run<string[]>(page, "told")).map((text) => {
          return JSON.parse(text).type as string;
        });
      await until(
        async () => (await told()).includes("loaded"),
        "the app",
      );
      assert.deepEqual(complaints, []);
      assert.equal(await run(page, "typeof isBroken"), "undefined");
      await frame.click("#close");
      await until(
        async () => (await told()).includes("close"),
        "the close",
      );
      await run(
        page,
        `{
            const script = document.createElement("script");
            script.textContent = "window.isBroken = true";
            document.body.append(script);
          }`,
      );
      assert.equal(await run(page, "typeof isBroken"), "undefined");
      await until(() => complaints.length > 0, "the policy's refusal");
      assert.match(complaints[0] ?? "", /Content Security Policy/);
    });
  },
});

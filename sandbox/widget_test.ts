import assert from "node:assert/strict";
import { createSandbox } from "./create_sandbox.ts";
import { type VirtualClock, virtualClock } from "./clock.ts";
import type { Sandbox } from "./sandbox.ts";

const WALLET = `0x${"ab".repeat(20)}`;

function setUp(): { sandbox: Sandbox; clock: VirtualClock } {
  const clock = virtualClock(Date.UTC(2026, 0, 1));
  return { clock, sandbox: createSandbox({ clock }) };
}

async function newSession(
  sandbox: Sandbox,
  change: Record<string, unknown> = {},
): Promise<string> {
  const response = await sandbox.fetch(
    new Request("http://sandbox/api/external/hpp/create-session", {
      method: "POST",
      headers: { "x-api-key": sandbox.apiKey },
      body: JSON.stringify({
        flow_type: "simple_full_restrict",
        wallet_address: WALLET,
        commodity: "ETH",
        network: "sepolia",
        currency: "USD",
        currency_amount: 25.5,
        ...change,
      }),
    }),
  );
  return (await response.json()).sessionId;
}

async function open(sandbox: Sandbox, query: Record<string, string>) {
  const response = await sandbox.fetch(
    new Request(
      `http://sandbox/${sandbox.partnerId}/widget?${new URLSearchParams(
        query,
      )}`,
    ),
  );
  const html = await response.text();
  const data = /id="data">(.*?)<\/script>/s.exec(html)?.[1];
  return { response, html, visit: JSON.parse(data ?? "null") };
}

async function step(
  sandbox: Sandbox,
  token: string,
  name: string,
  more: Record<string, unknown> = {},
) {
  const response = await sandbox.fetch(
    new Request(`http://sandbox/${sandbox.partnerId}/widget/steps`, {
      method: "POST",
      body: JSON.stringify({ token, step: name, ...more }),
    }),
  );
  return { status: response.status, body: await response.json() };
}

Deno.test("widgetRoutes() opens a session once", async () => {
  const { sandbox } = setUp();
  const session_id = await newSession(sandbox);
  assert.ok((await open(sandbox, { session_id })).visit.token);
  const again = await open(sandbox, { session_id });
  assert.equal(again.visit.refused, "used");
  assert.match(again.html, /cannot open/);
  assert.equal((await open(sandbox, {})).visit.refused, "unknown");
});

Deno.test("widgetRoutes() opens a session within thirty seconds and not later", async () => {
  for (const [ms, refused] of [[30_000, undefined], [30_001, "expired"]]) {
    const { sandbox, clock } = setUp();
    const session_id = await newSession(sandbox);
    await clock.advance(Number(ms));
    assert.equal((await open(sandbox, { session_id })).visit.refused, refused);
  }
});

Deno.test("widgetRoutes() moves its order to success, as the session asked", async () => {
  const { sandbox } = setUp();
  const session_id = await newSession(sandbox);
  const { visit } = await open(sandbox, { session_id, click_id: "click-1" });
  const paid = await step(sandbox, visit.token, "pay", {
    currencyAmount: "9999",
    address: "0xelsewhere",
  });
  assert.equal(paid.status, 200);
  assert.equal(paid.body.status, "progress");
  for (const name of ["authorise", "transfer", "complete"]) {
    assert.equal((await step(sandbox, visit.token, name)).status, 200);
  }
  const order = sandbox.order(paid.body.orderId);
  assert.equal(order?.status, "success");
  assert.equal(order?.currencyAmount, "25.5");
  assert.equal(order?.address, WALLET);
  assert.equal(order?.clickId, "click-1");
  assert.equal(order?.sessionId, session_id);
  assert.deepEqual(
    sandbox.deliveries().map((one) => one.type),
    [
      "otp_status",
      "otp_status",
      "registration",
      "verify_start",
      "verify_success",
      "card_added",
      "payment_started",
      "transfer_started",
      "order_complete",
    ],
  );
});

Deno.test("widgetRoutes() lets the user of an open session choose", async () => {
  const { sandbox } = setUp();
  const session_id = await newSession(sandbox, {
    flow_type: "simple",
    currency: undefined,
    currency_amount: undefined,
  });
  const { visit } = await open(sandbox, { session_id });
  const { body } = await step(sandbox, visit.token, "pay", {
    currencyAmount: "60",
    commodity: "TT",
    network: "amoy",
  });
  const order = sandbox.order(body.orderId);
  assert.equal(order?.currencyAmount, "60");
  assert.equal(order?.commodity, "TT");
  const failed = await step(sandbox, visit.token, "fail", {
    failReason: "4004",
  });
  assert.equal(failed.body.status, "failed");
  assert.equal(failed.body.failReason, "4004");
});

Deno.test("widgetRoutes() sells exactly the asset amount that a session locks", async () => {
  const { sandbox } = setUp();
  const response = await sandbox.fetch(
    new Request("http://sandbox/api/external/hpp/create-session", {
      method: "POST",
      headers: { "x-api-key": sandbox.apiKey },
      body: `{"flow_type":"simple_full_restrict","commodity":"ETH",
        "network":"sepolia","wallet_address":"${WALLET}",
        "commodity_amount":0.123456789012345678}`,
    }),
  );
  const session_id = (await response.json()).sessionId;
  const { visit } = await open(sandbox, { session_id });
  const { body } = await step(sandbox, visit.token, "pay");
  assert.equal(body.cryptoAmount, "0.123456789012345678");
});

Deno.test("widgetRoutes() makes an NFT checkout of smart-contract options", async () => {
  const { sandbox } = setUp();
  const session_id = await newSession(sandbox);
  const { visit } = await open(sandbox, {
    session_id,
    sc_address: WALLET,
    sc_input_data: "0x0102",
  });
  await step(sandbox, visit.token, "pay");
  const body = JSON.parse(sandbox.deliveries().at(-1)?.body ?? "");
  assert.equal(body.type, "payment_started");
  for (const { body } of sandbox.deliveries()) {
    assert.ok(!("hpp_session_id" in JSON.parse(body)), body);
  }
  assert.deepEqual(body.order.partner_data, {
    sc_address: WALLET,
    sc_input_data: "0x0102",
  });
});

Deno.test("widgetRoutes() refuses an address of another network", async () => {
  const { sandbox } = setUp();
  const session_id = await newSession(sandbox, {
    flow_type: "simple",
    wallet_address: undefined,
  });
  const { visit } = await open(sandbox, { session_id });
  for (
    const address of [
      "0x12",
      "near.somebody",
      "0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    ]
  ) {
    const { status, body } = await step(sandbox, visit.token, "pay", {
      address,
    });
    assert.equal(status, 400, address);
    assert.match(body.error, /not an address of sepolia/);
  }
  assert.equal(sandbox.orders().length, 0);
  const { status } = await step(sandbox, visit.token, "pay", {
    address: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
  });
  assert.equal(status, 200);
});

Deno.test("widgetRoutes() refuses steps out of turn and unknown tokens", async () => {
  const { sandbox } = setUp();
  const session_id = await newSession(sandbox);
  const { visit } = await open(sandbox, { session_id });
  assert.equal((await step(sandbox, "stolen", "pay")).status, 403);
  assert.equal((await step(sandbox, visit.token, "complete")).status, 400);
  await step(sandbox, visit.token, "pay");
  assert.equal((await step(sandbox, visit.token, "explode")).status, 400);
  assert.equal((await step(sandbox, visit.token, "cancel")).status, 200);
  assert.equal((await step(sandbox, visit.token, "complete")).status, 400);
});

Deno.test("widgetPage() can be framed, runs only its own script and escapes options", async () => {
  const { sandbox } = setUp();
  const session_id = await newSession(sandbox);
  const { response, html, visit } = await open(sandbox, {
    session_id,
    theme: "dark",
    brand_color: "#ff8800",
    click_id: "</script><script>alert(1)</script>",
  });
  const policy = response.headers.get("content-security-policy") ?? "";
  assert.match(policy, /default-src 'none'/);
  assert.match(policy, /frame-ancestors \*/);
  assert.ok(!policy.includes("unsafe"));
  assert.equal(visit.theme, "dark");
  assert.equal(visit.brandColor, "#ff8800");
  assert.ok(!html.includes("alert(1)"));
  const again = await open(sandbox, {
    session_id: await newSession(sandbox),
    brand_color: "red;}body{display:none",
    address: "<img src=x>",
  });
  assert.equal(again.visit.brandColor, null);
  assert.ok(!again.html.includes("<img"));
});

Deno.test("widgetRoutes() lets a new user ask for a code before anything else", async () => {
  const { sandbox } = setUp();
  const session_id = await newSession(sandbox);
  const { visit } = await open(sandbox, { session_id, click_id: "click-1" });
  await step(sandbox, visit.token, "pay");
  const bodies = sandbox.deliveries().map(({ body }) => JSON.parse(body));
  assert.deepEqual(
    bodies.slice(0, 3).map(({ type, status }) => [type, status]),
    [
      ["otp_status", "requested"],
      ["otp_status", "success"],
      ["registration", undefined],
    ],
  );
  assert.deepEqual(Object.keys(bodies[0]).sort(), [
    "click_id",
    "phone_country_code",
    "status",
    "type",
    "user_id",
  ]);
  assert.equal(bodies[0].click_id, "click-1");
});

import assert from "node:assert/strict";
import { createSandbox } from "./create_sandbox.ts";
import { realClock, virtualClock } from "./clock.ts";
import type { Sandbox, SandboxOptions } from "./sandbox.ts";

function setUp(options: SandboxOptions = {}): Sandbox {
  return createSandbox({
    clock: virtualClock(Date.UTC(2026, 0, 1)),
    webhookUrl: "http://partner/hook",
    fetch: () => Promise.resolve(new Response(null, { status: 204 })),
    ...options,
  });
}

async function call(
  sandbox: Sandbox,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
) {
  const response = await sandbox.fetch(
    new Request(`http://sandbox/control${path}`, {
      method,
      headers,
      ...(body !== undefined && {
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    }),
  );
  return { status: response.status, body: await response.json() };
}

Deno.test("controlRoutes() moves an order from creation to cancellation", async () => {
  const sandbox = setUp();
  const { body: order } = await call(sandbox, "POST", "/orders", {
    currencyAmount: "42",
    commodity: "POL",
    network: "amoy",
  });
  assert.equal(order.currencyAmount, "42");
  const path = `/orders/${order.orderId}/steps`;
  for (const step of ["pay", "authorise", "cancel"]) {
    assert.equal((await call(sandbox, "POST", path, { step })).status, 200);
  }
  const { body: after } = await call(
    sandbox,
    "GET",
    `/orders/${order.orderId}`,
  );
  assert.equal(after.status, "cancelled");
  const refused = await call(sandbox, "POST", path, { step: "complete" });
  assert.equal(refused.status, 400);
  assert.match(refused.body.error, /its status is cancelled/);
  const { body: state } = await call(sandbox, "GET", "/state");
  assert.deepEqual(state.orders[0].nextSteps, []);
  assert.equal(state.orderCount, 1);
  assert.equal(state.deliveries.length, 2);
});

Deno.test("controlRoutes() rewrites orders and users", async () => {
  const sandbox = setUp();
  const { orderId, userId } = sandbox.createOrder();
  await call(sandbox, "PATCH", `/orders/${orderId}`, {
    status: "refund_review",
  });
  assert.equal(sandbox.order(orderId)?.status, "refund_review");
  await call(sandbox, "PATCH", `/users/${userId}`, { banned: true });
  assert.equal(sandbox.user(userId)?.banned, true);
  await call(sandbox, "POST", `/users/${userId}/steps`, { step: "login" });
  assert.equal(sandbox.deliveries().at(-1)?.type, "login");
  const { body: user } = await call(sandbox, "POST", "/users", {
    country: "EST",
  });
  await call(sandbox, "DELETE", `/orders/${orderId}`);
  assert.equal(sandbox.order(orderId), null);
  assert.equal(sandbox.user(user.userId)?.country, "EST");
});

Deno.test("controlRoutes() presses Test, sends events and sets delivery", async () => {
  const sandbox = setUp();
  const { body: tested } = await call(sandbox, "POST", "/test");
  assert.equal(tested.state, "received");
  const sent = await call(sandbox, "POST", "/events", {
    type: "order_complete",
    fields: { order: { id: "X" } },
  });
  assert.equal(sent.status, 200);
  const { body: delivery } = await call(sandbox, "PATCH", "/delivery", {
    webhookUrl: "http://other/hook",
    disableRule: "first_failure",
    enabled: true,
  });
  assert.equal(delivery.webhookUrl, "http://other/hook");
  assert.equal(delivery.disableRule, "first_failure");
  await call(sandbox, "PATCH", "/delivery", { webhookUrl: null });
  assert.equal(sandbox.delivery.webhookUrl, null);
  assert.equal((await call(sandbox, "GET", "/deliveries")).body.length, 2);
});

Deno.test("controlRoutes() switches faults on and off", async () => {
  const sandbox = setUp();
  await call(sandbox, "PATCH", "/faults", { drop: 0.5 });
  assert.equal((await call(sandbox, "GET", "/faults")).body.drop, 0.5);
  assert.equal((await call(sandbox, "DELETE", "/faults")).body.drop, 0);
  const wrong = await call(sandbox, "PATCH", "/faults", { drop: 5 });
  assert.equal(wrong.status, 400);
});

Deno.test("controlRoutes() moves the clock", async () => {
  const sandbox = setUp();
  const before = sandbox.clock.now();
  await call(sandbox, "POST", "/clock", { advanceMs: 54_000_000 });
  assert.equal(sandbox.clock.now(), before + 54_000_000);
  const real = setUp({ clock: realClock() });
  await call(real, "POST", "/clock", { advanceMs: 3_600_000 });
  assert.ok(real.clock.now() - Date.now() > 3_500_000);
});

Deno.test("controlRoutes() populates", async () => {
  const sandbox = setUp();
  await call(sandbox, "POST", "/populate", { orders: 3, spanMs: 1_000 });
  await call(sandbox, "POST", "/clock", { advanceMs: 3_600_000 });
  assert.equal((await call(sandbox, "GET", "/truth")).body.length, 3);
  assert.ok((await call(sandbox, "GET", "/counters")).body.events > 3);
  await sandbox.close();
});

Deno.test("controlRoutes() refuses requests that it cannot read", async () => {
  const sandbox = setUp();
  const cases: [string, string, unknown][] = [
    ["POST", "/orders", "{"],
    ["POST", "/orders", "[]"],
    ["POST", "/orders", { orderId: "mine" }],
    ["POST", "/orders", { currencyAmount: 5 }],
    ["POST", "/orders", { currencyAmount: "five" }],
    ["POST", "/orders", { constructor: "x" }],
    ["POST", "/orders/none/steps", { step: "pay" }],
    ["POST", "/users/none/steps", { step: "login" }],
    ["POST", "/events", {}],
    ["POST", "/events", { type: "x", orderId: "none" }],
    ["POST", "/events", { type: "x", fields: [1] }],
    ["POST", "/events", { type: "x", fields: null }],
    ["POST", "/clock", { advanceMs: -1 }],
    ["POST", "/clock", { advanceMs: 1e15 }],
    ["PATCH", "/delivery", { webhookUrl: "ftp://x" }],
    ["PATCH", "/delivery", { disableRule: "never" }],
    ["PATCH", "/delivery", { off: true }],
    ["POST", "/populate", {}],
    ["POST", "/populate", { orders: 1e9 }],
  ];
  for (const [method, path, body] of cases) {
    const answer = await call(sandbox, method, path, body);
    assert.equal(
      answer.status,
      400,
      `${method} ${path} ${JSON.stringify(body)}`,
    );
    assert.equal(typeof answer.body.error, "string");
  }
  assert.equal((await call(sandbox, "GET", "/orders/none")).status, 404);
  assert.equal(sandbox.orders().length, 0);
});

Deno.test("controlRoutes() refuses changes from a page of another origin", async () => {
  const sandbox = setUp();
  const from = (origin: string) =>
    call(sandbox, "POST", "/orders", {}, { origin });
  assert.equal((await from("https://evil.example")).status, 403);
  assert.equal((await from("null")).status, 403);
  assert.equal((await from("http://sandbox")).status, 200);
});

Deno.test("controlPage() runs only its own script and cannot be framed", async () => {
  const sandbox = setUp({ partnerId: "01PARTNER" });
  const response = await sandbox.fetch(new Request("http://sandbox/control"));
  const html = await response.text();
  const policy = response.headers.get("content-security-policy") ?? "";
  assert.match(policy, /frame-ancestors 'none'/);
  assert.ok(!policy.includes("unsafe"));
  assert.match(html, /01PARTNER/);
  assert.ok(!html.includes(sandbox.apiKey));
  const root = await sandbox.fetch(new Request("http://sandbox/"));
  assert.equal(root.headers.get("location"), "/control");
});

Deno.test("controlRoutes() opens the widget with a new session each time", async () => {
  const sandbox = setUp();
  const seen = new Set<string>();
  for (let time = 0; time < 2; time++) {
    const { status, headers } = await sandbox.fetch(
      new Request("http://sandbox/control/widget"),
    );
    assert.equal(status, 302);
    const location = headers.get("location") ?? "";
    seen.add(location);
    const widget = await sandbox.fetch(
      new Request(`http://sandbox${location}`),
    );
    assert.equal(widget.status, 200);
    assert.ok(!(await widget.text()).includes("cannot open"));
  }
  assert.equal(seen.size, 2);
});

Deno.test("Sandbox does not print its key or webhook address when inspected", () => {
  const sandbox = setUp({
    apiKey: "key-never-shown",
    webhookUrl: "http://partner/webhooks/secret-never-shown",
  });
  assert.ok(!Deno.inspect(sandbox, { depth: 9 }).includes("never-shown"));
  assert.ok(!JSON.stringify(sandbox).includes("never-shown"));
});

import assert from "node:assert/strict";
import { BAD_DAY } from "./faults.ts";
import { realClock, virtualClock } from "./clock.ts";
import { createSandbox, serveSandbox } from "./create_sandbox.ts";

const HOUR = 3_600_000;

Deno.test("populate() creates as many orders as asked, with every ending", async () => {
  const clock = virtualClock(Date.UTC(2026, 0, 1));
  const sandbox = createSandbox({ clock });
  let over = false;
  void sandbox.populate({ orders: 300, spanMs: 6 * HOUR }).then(() =>
    over = true
  );
  await clock.advance(5 * HOUR);
  assert.equal(over, false);
  await clock.advance(24 * HOUR);
  assert.equal(over, true);
  const truth = sandbox.truth();
  assert.equal(truth.length, 300);
  const counts = new Map<string, number>();
  for (const { status } of truth) {
    counts.set(status, (counts.get(status) ?? 0) + 1);
  }
  for (const status of ["success", "failed", "cancelled"]) {
    assert.ok((counts.get(status) ?? 0) >= 10, `${status}: ${counts}`);
  }
  assert.ok((counts.get("success") ?? 0) > 150);
  for (const order of truth) {
    if (order.status === "success") assert.notEqual(order.txId, "");
    assert.equal(order.failReason !== "", order.status === "failed");
  }
  assert.ok(sandbox.users().length > 50);
  const verified = new Set(sandbox.users().map((user) => user.lkyc));
  assert.deepEqual([...verified].sort(), ["failed", "success"]);
  await sandbox.close();
});

Deno.test("close() ends visits that are running", async () => {
  const clock = virtualClock(0);
  const sandbox = createSandbox({ clock });
  const populated = sandbox.populate({ orders: 10 });
  await clock.advance(HOUR / 2);
  await sandbox.close();
  await populated;
  assert.equal(clock.pendingTimers, 0);
});

Deno.test("backfill() writes finished orders into the past without webhooks", () => {
  const sandbox = createSandbox({ clock: virtualClock(Date.UTC(2026, 0, 1)) });
  const fromMs = Date.UTC(2025, 0, 1);
  const untilMs = Date.UTC(2025, 11, 1);
  sandbox.backfill({ orders: 500, fromMs, untilMs });
  const orders = sandbox.orders();
  assert.equal(orders.length, 500);
  for (const order of orders) {
    assert.ok(order.createdAtMs >= fromMs && order.createdAtMs < untilMs);
    assert.ok(["success", "failed", "cancelled"].includes(order.status));
  }
  assert.equal(sandbox.deliveries().length, 0);
  assert.throws(
    () => sandbox.backfill({ orders: 1, fromMs: 2, untilMs: 1 }),
    RangeError,
  );
});

Deno.test("VirtualClock waits for answers over real HTTP", async () => {
  let heard = 0;
  await using endpoint = Deno.serve({
    port: 0,
    hostname: "127.0.0.1",
    onListen: () => {},
  }, async (request) => {
    await request.body?.cancel();
    await new Promise((resolve) => setTimeout(resolve, 10));
    heard++;
    return new Response(null, { status: 500 });
  });
  const clock = virtualClock(0, { wire: realClock() });
  await using served = await serveSandbox({
    port: 0,
    clock,
    webhookUrl: `http://127.0.0.1:${endpoint.addr.port}/hook`,
  });
  const { sandbox, url } = served;
  sandbox.advance(sandbox.createOrder().orderId, "pay");
  const answer = await fetch(`${url}/control/clock`, {
    method: "POST",
    body: JSON.stringify({ advanceMs: 16 * HOUR }),
  });
  assert.deepEqual(await answer.json(), { nowMs: 16 * HOUR });
  assert.equal(heard, 6);
  assert.equal(sandbox.delivery.state, "disabled");
  assert.equal(sandbox.delivery.disabledSinceMs, 15 * HOUR + 5 * 60_000);
  assert.equal(sandbox.counters.timeouts, 0);
});

Deno.test("A fast real clock sends a day of webhooks over real HTTP in a moment", async () => {
  const bodies: string[] = [];
  await using endpoint = Deno.serve({
    port: 0,
    hostname: "127.0.0.1",
    onListen: () => {},
  }, async (request) => {
    bodies.push(await request.text());
    return new Response(null, { status: 204 });
  });
  const clock = realClock({ factor: 43_200, startMs: Date.UTC(2026, 0, 1) });
  await using served = await serveSandbox({
    port: 0,
    clock,
    webhookUrl: `http://127.0.0.1:${endpoint.addr.port}/hook`,
    faults: BAD_DAY,
  });
  const { sandbox } = served;
  await sandbox.populate({ orders: 60, spanMs: 12 * HOUR });
  await sandbox.idle();
  const { counters } = sandbox;
  assert.equal(sandbox.truth().length, 60);
  assert.equal(counters.timeouts, 0, "real waits were timed by the fast clock");
  assert.equal(bodies.length, counters.attempts - counters.requestsLost);
  assert.ok(counters.retries > 0 && counters.dropped > 0);
  const states = new Set(sandbox.deliveries().map((one) => one.state));
  assert.ok(!states.has("pending"));
  const answer = await fetch(`${served.url}/api/external/orders?limit=1`, {
    headers: { "x-api-key": sandbox.apiKey },
  });
  await answer.body?.cancel();
  assert.match(answer.headers.get("date") ?? "", /^\w+, \d\d Jan 2026 [^,]*$/);
});

Deno.test("populate() searches neither all users nor all sleepers for each step, and close() wakes all of it", async () => {
  const clock = virtualClock(0);
  const sandbox = createSandbox({ clock });
  const add = AbortSignal.prototype.addEventListener;
  let listeners = 0;
  let lists = 0;
  sandbox.users = () => {
    lists++;
    return [];
  };
  AbortSignal.prototype.addEventListener = function (
    this: AbortSignal,
    ...args: Parameters<typeof add>
  ) {
    listeners++;
    return add.apply(this, args);
  };
  try {
    const lived = sandbox.populate({ orders: 1_000 });
    await clock.advance(HOUR / 2);
    assert.ok(listeners <= 2, `${listeners} listeners`);
    assert.equal(lists, 0);
    await sandbox.close();
    await lived;
    assert.equal(clock.pendingTimers, 0);
  } finally {
    AbortSignal.prototype.addEventListener = add;
  }
});

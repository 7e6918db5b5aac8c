import assert from "node:assert/strict";
import type { Ledger } from "../../ledger/mod.ts";
import { takeLease } from "../../ledger/for_sync.ts";
import { readPollHealth } from "./poll_health.ts";
import { createPoller } from "./poller.ts";
import { isThorough } from "../../tests/kit/thorough.ts";
import {
  deliver,
  ledgerFor,
  moving,
  pollerFor,
  pollOnce,
  type Service,
  service,
  startMs,
} from "../testing/polling_test_kit.ts";

const day = 24 * 3_600_000;

async function assertTruth(box: Service, ledger: Ledger): Promise<void> {
  const known = new Map<string, unknown>();
  for await (const order of ledger.orders.list()) {
    known.set(order.orderId, `${order.status} ${order.trust}`);
  }
  const truth = new Map(
    box.sandbox.truth().map((order) => [
      order.orderId,
      `${order.status} confirmed`,
    ]),
  );
  assert.deepEqual(
    [...known].sort(([a], [b]) => String(a) < String(b) ? -1 : 1),
    [...truth].sort(([a], [b]) => a < b ? -1 : 1),
  );
}

Deno.test("once() takes the whole past in and ends in the proof", async () => {
  await using box = service();
  box.sandbox.backfill({
    orders: 80,
    fromMs: startMs - 700 * day,
    untilMs: startMs - day,
  });
  await using ledger = await ledgerFor(box);
  const report = await pollOnce(box, ledger);
  await assertTruth(box, ledger);
  assert.equal(report.status.orders.complete, true);
  assert.equal(report.status.users.complete, true);
  assert.equal(report.requests.deep, 0);
  assert.equal(report.status.counts.orders, 80);
  assert.equal(report.delivery.deliverySuspected, false);
  assert.equal(report.status.lag.namedMs, 0);
  const stats = await ledger.stats();
  assert.equal(stats.lag, 0);
  const again = await pollOnce(box, ledger);
  assert.equal(again.appended, 0);
  assert.ok(again.requests.deep > 0);
});

Deno.test("once() brings changes in, wherever they happened", async () => {
  await using box = service();
  box.sandbox.backfill({
    orders: 30,
    fromMs: startMs - 700 * day,
    untilMs: startMs - day,
  });
  const open = box.sandbox.createOrder();
  await using ledger = await ledgerFor(box);
  await pollOnce(box, ledger);
  await box.clock.advance(60_000);
  box.sandbox.advance(open.orderId, "pay");
  box.sandbox.createOrder();
  const old = box.sandbox.orders().find((order) => order.status === "success");
  assert.ok(old);
  box.sandbox.amendOrder(old.orderId, { status: "cancelled" });
  const report = await pollOnce(box, ledger);
  // Two orders moved, one is new, and so is its user.
  assert.equal(report.appended, 4);
  await assertTruth(box, ledger);
});

Deno.test("once() confirms what a webhook claims, and empties the queue", async () => {
  await using box = service();
  await using ledger = await ledgerFor(box);
  const order = box.sandbox.createOrder();
  await pollOnce(box, ledger);
  for (const step of ["pay", "authorise", "complete"] as const) {
    box.sandbox.advance(order.orderId, step);
  }
  await deliver(box, ledger, "order_complete", order.orderId);
  await ledger.project();
  assert.equal((await ledger.orders.get(order.orderId))?.trust, "claimed");
  await pollOnce(box, ledger, {});
  const after = await ledger.orders.get(order.orderId);
  assert.equal(after?.status, "success");
  assert.equal(after?.trust, "confirmed");
  const [queue] = await ledger.driver.batch([{
    sql: "SELECT count(*) FROM orders WHERE named_at IS NOT NULL",
    args: [],
  }], "read");
  assert.equal(queue?.rows[0]?.[0], 0);
});

Deno.test("once() contradicts a forged claim after ten minutes, not before, and once", async () => {
  await using box = service();
  await using ledger = await ledgerFor(box);
  const order = box.sandbox.createOrder();
  box.sandbox.advance(order.orderId, "pay");
  await deliver(box, ledger, "order_complete", order.orderId);
  const state = async () => {
    await pollOnce(box, ledger);
    const { status, trust } = await ledger.orders.get(order.orderId) ?? {};
    return `${status} ${trust}`;
  };
  assert.equal(await state(), "success claimed");
  await box.clock.advance(9 * 60_000);
  assert.equal(await state(), "success claimed");
  await box.clock.advance(61_000);
  assert.equal(await state(), "progress confirmed");
  await box.clock.advance(day);
  await pollOnce(box, ledger);
  const stats = await ledger.stats();
  assert.equal(stats.events.order_contradicted, 1);
});

Deno.test("once() contradicts a claim after the time that it is given", async () => {
  await using box = service();
  await using ledger = await ledgerFor(box);
  const order = box.sandbox.createOrder();
  await deliver(box, ledger, "order_complete", order.orderId);
  const trustAfter = async (contradictedAfterMs: number) => {
    await pollOnce(box, ledger, { contradictedAfterMs });
    return (await ledger.orders.get(order.orderId))?.trust;
  };
  await box.clock.advance(121_000);
  assert.equal(await trustAfter(180_000), "claimed");
  await box.clock.advance(61_000);
  assert.equal(await trustAfter(180_000), "confirmed");
});

Deno.test("once() contradicts a forged claim about the click id of many orders", async () => {
  await using box = service();
  await using ledger = await ledgerFor(box);
  const clickId = "shared-click-id";
  for (let i = 0; i < 100; i++) box.sandbox.createOrder({ clickId });
  await deliver(box, ledger, "order_complete", clickId);
  await pollOnce(box, ledger);
  assert.equal((await ledger.orders.get(clickId))?.status, "success");
  await box.clock.advance(11 * 60_000);
  await pollOnce(box, ledger);
  const state = await ledger.orders.get(clickId);
  assert.equal(state?.status, "created");
  assert.deepEqual(state.anomalies.map(({ kind }) => kind), ["contradicted"]);
  // A later claim is contradicted in its turn.
  await deliver(box, ledger, "order_complete", clickId);
  await pollOnce(box, ledger);
  assert.equal((await ledger.orders.get(clickId))?.status, "success");
  await box.clock.advance(11 * 60_000);
  await pollOnce(box, ledger);
  assert.equal((await ledger.orders.get(clickId))?.status, "created");
});

Deno.test("once() contradicts by our clock, whatever the service's says", async () => {
  for (const clockSkewMs of [600_000, -600_000]) {
    await using box = service({ faults: { clockSkewMs } });
    await using ledger = await ledgerFor(box);
    const order = box.sandbox.createOrder();
    await deliver(box, ledger, "order_complete", order.orderId);
    await pollOnce(box, ledger);
    assert.equal((await ledger.orders.get(order.orderId))?.trust, "claimed");
    await box.clock.advance(10 * 60_000);
    await pollOnce(box, ledger);
    assert.equal((await ledger.orders.get(order.orderId))?.status, "created");
    assert.equal((await ledger.orders.get(order.orderId))?.trust, "confirmed");
  }
});

Deno.test("once() settles a contested order", async () => {
  await using box = service();
  await using ledger = await ledgerFor(box);
  const order = box.sandbox.createOrder();
  box.sandbox.advance(order.orderId, "fail");
  await deliver(box, ledger, "order_complete", order.orderId);
  await pollOnce(box, ledger);
  const anomalies = async () =>
    (await ledger.orders.get(order.orderId))?.anomalies.map(({ kind }) => kind);
  assert.deepEqual(await anomalies(), ["contested"]);
  await box.clock.advance(10 * 60_000);
  await pollOnce(box, ledger);
  assert.deepEqual(await anomalies(), ["contradicted"]);
});

Deno.test("once() records that the service does not know an order, once", async () => {
  await using box = service();
  await using ledger = await ledgerFor(box);
  await deliver(box, ledger, "order_complete", "01JNOSUCHORDER000000000000");
  await pollOnce(box, ledger);
  await box.clock.advance(11 * 60_000);
  await pollOnce(box, ledger);
  await pollOnce(box, ledger);
  const stats = await ledger.stats();
  assert.equal(stats.events.order_absent, 1);
  assert.equal(stats.events.order_contradicted, 1);
  const order = await ledger.orders.get("01JNOSUCHORDER000000000000");
  assert.equal(order?.status, "created");
});

Deno.test("once() is not led astray by ids nobody can ask for", async () => {
  await using box = service();
  await using ledger = await ledgerFor(box);
  const order = box.sandbox.createOrder();
  for (const id of ["a,b", " ", "x".repeat(500), "über", order.orderId]) {
    await deliver(box, ledger, "payment_started", id);
  }
  await pollOnce(box, ledger);
  const known = await ledger.orders.get(order.orderId);
  assert.equal(known?.confirmed?.status, "created");
  const [queue] = await ledger.driver.batch([{
    sql: "SELECT count(*) FROM orders WHERE named_at IS NOT NULL",
    args: [],
  }], "read");
  assert.equal(queue?.rows[0]?.[0], 0);
});

Deno.test("once() leaves a ledger alone that another poller holds", async () => {
  await using box = service();
  await using ledger = await ledgerFor(box);
  await takeLease(ledger.driver, {
    name: "poll",
    holder: "other",
    leaseMs: 60_000,
  });
  const report = await pollerFor(box, ledger).once();
  assert.equal(report.ran, false);
  assert.ok(!report.ran && report.heldBy === "other");
  assert.equal(box.asked.length, 0);
});

Deno.test("once() stops in the middle without leaving anything behind, and goes on", async () => {
  await using box = service();
  box.sandbox.backfill({
    orders: 60,
    fromMs: startMs - 700 * day,
    untilMs: startMs - day,
  });
  await using ledger = await ledgerFor(box);
  const stop = new AbortController();
  const poller = pollerFor(box, ledger, {
    onProgress: ({ requests }) => {
      if (requests >= 2) stop.abort(new Error("enough"));
    },
  });
  await assert.rejects(
    moving(poller.once({ signal: stop.signal }), box.clock),
    /enough/,
  );
  await pollOnce(box, ledger);
  await assertTruth(box, ledger);
});

Deno.test("run() keeps up with a service on a bad day", async () => {
  await using box = service({ seed: 11 });
  await using ledger = await ledgerFor(box);
  box.sandbox.setFaults({
    apiTooManyRequests: 0.05,
    apiServerError: 0.05,
    pageInsert: 0.02,
    pageChange: 0.05,
    pageShort: 0.1,
    totalWrong: 0.1,
    totalMissing: 0.1,
    sameSecond: 0.2,
  });
  const stop = new AbortController();
  const errors: unknown[] = [];
  const running = pollerFor(box, ledger, {
    requestsPerSecond: 4,
    deepCycleAtLeastMs: 60_000,
    onError: (error) => errors.push(error),
  }).run(stop.signal);
  const living = box.sandbox.populate(
    isThorough
      ? { orders: 40, spanMs: 600_000 }
      : { orders: 20, spanMs: 300_000 },
  );
  const over = living.then(async () => {
    box.sandbox.heal();
    await box.clock.sleep(400_000);
  });
  await moving(over, box.clock);
  stop.abort();
  await moving(running, box.clock);
  await assertTruth(box, ledger);
});

Deno.test("run() reads on when nobody can be told how delivery is", async () => {
  await using box = service();
  box.sandbox.createOrder();
  await using ledger = await ledgerFor(box);
  const stop = new AbortController();
  const errors: string[] = [];
  const running = pollerFor(box, ledger, {
    onWatch: () => {
      throw new Error("Nobody listens");
    },
    onError: (error) => errors.push(String(error)),
  }).run(stop.signal);
  await moving(box.clock.sleep(100_000), box.clock);
  stop.abort();
  await moving(running, box.clock);
  await assertTruth(box, ledger);
  assert.deepEqual(errors, Array(4).fill("Error: Nobody listens"));
});

Deno.test("pollNow() makes run() read at once what is new and what is open", async () => {
  await using box = service();
  const { orderId: open } = box.sandbox.createOrder();
  await using ledger = await ledgerFor(box);
  const stop = new AbortController();
  const poller = pollerFor(box, ledger, {
    followEveryMs: day,
    confirmEveryMs: day,
    openEveryMs: day,
  });
  const status = async (orderId: string) => {
    await ledger.project();
    return (await ledger.orders.get(orderId))?.status ?? null;
  };
  assert.equal(poller.pollNow(), false);
  const running = poller.run(stop.signal);
  await moving(box.clock.sleep(60_000), box.clock);
  assert.equal(await status(open), "created");

  box.sandbox.advance(open, "pay");
  const { orderId: added } = box.sandbox.createOrder();
  await moving(box.clock.sleep(60_000), box.clock);
  assert.deepEqual([await status(open), await status(added)], [
    "created",
    null,
  ]);
  assert.equal(poller.pollNow(), true);
  await moving(box.clock.sleep(5000), box.clock);
  assert.deepEqual([await status(open), await status(added)], [
    "progress",
    "created",
  ]);
  stop.abort();
  await moving(running, box.clock);
  assert.equal(poller.pollNow(), false);
});

Deno.test("run() waits for the lease and takes over when its holder is gone", async () => {
  await using box = service();
  box.sandbox.createOrder();
  await using ledger = await ledgerFor(box);
  const stop = new AbortController();
  const began = performance.now();
  const crashed = await takeLease(ledger.driver, {
    name: "poll",
    holder: "crashed",
    leaseMs: 150,
  });
  assert.ok("fence" in crashed);
  const polled = Promise.withResolvers<void>();
  const running = createPoller({
    ledger,
    client: box.client,
    holder: "next",
    requestsPerSecond: 1000,
    onProgress: () => polled.resolve(),
  }).run(stop.signal);
  await moving(polled.promise, box.clock);
  assert.ok(performance.now() - began >= 140);
  stop.abort();
  await moving(running, box.clock);
  const [lease] = await ledger.driver.batch([{
    sql: "SELECT holder, fence FROM leases WHERE name = 'poll'",
    args: [],
  }], "read");
  assert.deepEqual([...lease?.rows[0] ?? []], ["next", 2]);
});

Deno.test("createPoller() does not double a reading when two pollers share a ledger", async () => {
  await using box = service();
  box.sandbox.backfill({
    orders: 40,
    fromMs: startMs - 90 * day,
    untilMs: startMs - day,
  });
  await using ledger = await ledgerFor(box);
  const polls = ["a", "b", "c"].map((holder) =>
    pollerFor(box, ledger, { holder }).once()
  );
  const reports = await moving(Promise.all(polls), box.clock);
  assert.equal(reports.filter((report) => report.ran).length, 1);
  const stats = await ledger.stats();
  assert.equal(stats.events.order_snapshot, 40);
});

Deno.test("once() reads the users where a window of orders always fails, and records the failure", async () => {
  await using box = service();
  await using ledger = await ledgerFor(box);
  for (let n = 0; n < 5; n++) box.sandbox.createOrder();
  await box.clock.advance(3_600_000);
  await pollOnce(box, ledger);
  box.refuse = (url) =>
    url.pathname.endsWith("/orders") && url.searchParams.has("end_date")
      ? new Response("{}", { status: 500 })
      : null;
  for (let cycle = 1; cycle <= 2; cycle++) {
    const before = box.asked.length;
    const running = pollerFor(box, ledger).once({ sweeps: ["deep"] });
    await assert.rejects(moving(running, box.clock), { name: "ServiceError" });
    const users = box.asked.slice(before).filter((url) =>
      url.pathname.endsWith("/users") && url.searchParams.has("to")
    );
    assert.ok(users.length > 0, "the users were not read");
    const { failures } = await readPollHealth(ledger.driver);
    assert.deepEqual(
      failures.map(({ sweep, attempts, status }) => [sweep, attempts, status]),
      [["deep", cycle, 500]],
    );
  }
  box.refuse = () => null;
  await moving(pollerFor(box, ledger).once({ sweeps: ["deep"] }), box.clock);
  assert.deepEqual((await readPollHealth(ledger.driver)).failures, []);
});

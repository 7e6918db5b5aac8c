import assert from "node:assert/strict";
import { takeLease } from "../../ledger/for_sync.ts";
import {
  latestPlausible,
  pastBeginsMs,
  plausibleNowMs,
} from "../../core/time/service_time.ts";
import {
  bench,
  drain,
  moving,
  rows,
  service,
  startMs,
  storeOnly,
} from "../testing/polling_test_kit.ts";
import { createPoller } from "./poller.ts";
import { readPollStatus } from "./poll_status.ts";
import { steadyClock } from "../../core/waiting/waiting.ts";
import { sweepNew } from "./sweep_created.ts";
import { emptyLedger } from "../../ledger/testing/mod.ts";

const minute = 60_000;

Deno.test("sweepNew() goes on finding new orders beside one that is dated 9999", async () => {
  await using box = service(
    {},
    undefined,
    (text, url) =>
      url.pathname.endsWith("/orders")
        ? text.replace(odd, `$1"9999-01-01T00:00:00Z"`)
        : text,
  );
  const { orderId } = box.sandbox.createOrder();
  const odd = new RegExp(
    `("order_id":"${orderId}"[^}]*"created_at":)"[^"]*"`,
  );
  const driver = await storeOnly();
  const { context } = await bench(box, driver);
  await drain(sweepNew(context, "order"), box.clock);
  for (let round = 0; round < 3; round++) {
    await box.clock.advance(5 * minute);
    const later = box.sandbox.createOrder();
    await drain(sweepNew(context, "order"), box.clock);
    const known = await rows(
      driver,
      "SELECT 1 FROM observations WHERE id = ?",
      later.orderId,
    );
    assert.equal(known.length, 1, `round ${round}`);
  }
  const stored = await rows(
    driver,
    "SELECT value FROM cursors WHERE name = 'new:order'",
  );
  assert.ok(JSON.parse(String(stored[0]?.[0])).latestMs < startMs + 3_600_000);
  await driver.close();
});

Deno.test("sweepNew() does not believe an answer that is dated 2099, nor one of 1970", async () => {
  for (const date of ["Thu, 01 Jan 2099 00:00:00 GMT", new Date(0)]) {
    await using box = service();
    const driver = await storeOnly();
    box.sandbox.createOrder();
    await box.clock.advance(10 * minute);
    const { context } = await bench(box, driver);
    const { page } = context.client.orders;
    const client = {
      ...context.client,
      orders: {
        list: context.client.orders.list.bind(context.client.orders),
        page: (async (...how) => ({
          ...await page.apply(context.client.orders, how),
          readAt: new Date(date).toISOString(),
        })) as typeof page,
      },
    };
    await drain(sweepNew({ ...context, client }, "order"), box.clock);
    const { orders } = await readPollStatus(driver);
    assert.equal(
      orders.until,
      new Date(startMs + 9 * minute).toISOString(),
      String(date),
    );
    assert.equal(orders.complete, true, orders.why ?? "");
    await box.clock.advance(5 * minute);
    const later = box.sandbox.createOrder();
    await drain(sweepNew(context, "order"), box.clock);
    const known = await rows(
      driver,
      "SELECT 1 FROM observations WHERE id = ?",
      later.orderId,
    );
    assert.equal(known.length, 1);
    await driver.close();
  }
});

Deno.test("run() polls on when our clock is set back ten minutes", async () => {
  await using box = service();
  let backMs = 0;
  const now = () => box.clock.now() - backMs;
  await using ledger = await emptyLedger({
    now,
  });
  const stop = new AbortController();
  const poller = createPoller({
    ledger,
    client: box.client,
    now,
    sleep: (ms, signal) => box.clock.sleep(ms, signal),
    holder: "test",
  });
  const running = poller.run(stop.signal);
  const order = box.sandbox.createOrder();
  await moving(box.clock.sleep(2 * minute), box.clock);
  assert.equal((await ledger.orders.get(order.orderId))?.status, "created");
  backMs = 10 * minute;
  const before = box.asked.length;
  box.sandbox.advance(order.orderId, "pay");
  const later = box.sandbox.createOrder();
  await moving(box.clock.sleep(2 * minute), box.clock);
  assert.ok(box.asked.length > before + 20, `${box.asked.length - before}`);
  assert.equal((await ledger.orders.get(later.orderId))?.trust, "confirmed");
  // What changed meanwhile wins once our clock has come to that time.
  backMs = 0;
  await moving(box.clock.sleep(2 * minute), box.clock);
  stop.abort();
  await moving(running, box.clock);
  assert.equal((await ledger.orders.get(order.orderId))?.status, "progress");
});

Deno.test("takeLease() takes a lease for expired that was given before the clock was set back", async () => {
  const driver = await storeOnly();
  const wanted = { name: "poll", leaseMs: 30_000 };
  await takeLease(driver, { ...wanted, holder: "crashed" });
  await driver.batch([{
    sql: "UPDATE leases SET expires_at = expires_at + 600000",
    args: [],
  }], "write");
  const lease = await takeLease(driver, { ...wanted, holder: "next" });
  assert.ok("fence" in lease);
  await driver.close();
});

Deno.test("Recorder replaces an observation by the next one when its time is in the future", async () => {
  await using box = service();
  const driver = await storeOnly();
  const order = box.sandbox.createOrder();
  const { context, read } = await bench(box, driver);
  await drain(sweepNew(context, "order"), box.clock);
  await driver.batch([{
    sql: "UPDATE observations SET asked_at = '2099-01-01T00:00:00.000Z'",
    args: [],
  }], "write");
  box.sandbox.advance(order.orderId, "pay");
  const before = read.appended;
  for (let round = 0; round < 3; round++) {
    await box.clock.advance(1000);
    await drain(sweepNew(context, "order"), box.clock);
  }
  // It is stored once, not each time that it is read.
  assert.equal(read.appended, before + 1);
  await driver.close();
});

Deno.test("steadyClock() stands still while its clock is set back, and goes on", () => {
  let now = 1000;
  const steady = steadyClock(() => now);
  assert.equal(steady(), 0);
  now = 1500;
  assert.equal(steady(), 500);
  now = 100;
  assert.equal(steady(), 500);
  now = 200;
  assert.equal(steady(), 600);
});

Deno.test("latestPlausible() leaves out what has yet to come", () => {
  assert.equal(latestPlausible([], 0), null);
  assert.equal(latestPlausible([null, 5, 3, 10 * minute], 10), 5);
  assert.equal(latestPlausible([5 * minute], 0), 5 * minute);
});

Deno.test("plausibleNowMs() believes an answer up to our clock, and not a day back", () => {
  const at = (ms: number) => new Date(startMs + ms).toISOString();
  assert.equal(plausibleNowMs(at(-5 * minute), startMs), startMs - 5 * minute);
  assert.equal(plausibleNowMs(at(5 * minute), startMs), startMs);
  assert.equal(plausibleNowMs("1970-01-01T00:00:00.000Z", startMs), startMs);
});

Deno.test("pastBeginsMs() looks through everything where the oldest is dated 9999", () => {
  assert.equal(pastBeginsMs("9999-12-31 23:59:59", startMs), -1000);
  assert.equal(pastBeginsMs(null, startMs), -1000);
  assert.equal(
    pastBeginsMs(new Date(startMs - 5000).toISOString(), startMs),
    startMs - 6000,
  );
  assert.equal(
    pastBeginsMs(new Date(startMs + 5000).toISOString(), startMs),
    startMs,
  );
});

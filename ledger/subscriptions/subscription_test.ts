import assert from "node:assert/strict";
import { newLedger } from "../testing/fold_kit.ts";
import {
  lives,
  opened,
  record,
  subscriptionsOf,
} from "../testing/subscription_kit.ts";
import type { Driver } from "../store/database.ts";
import { at, orderRead, orderWebhook } from "../testing/projection_test_kit.ts";
import { until } from "../../tests/kit/until.ts";
import type { TransitionHandler } from "./outbox.ts";

Deno.test("Subscription.dispatch() delivers each matching transition once, in order, under its key", async () => {
  const driver = await newLedger();
  await record(
    driver,
    ...lives("O1", "O2"),
    orderWebhook("W1", 9, {
      type: "order_complete",
      orderId: "O3",
      user: "U1",
    }),
  );
  const keys: string[] = [];
  await using subscription = await opened(driver, ({ key }) => {
    keys.push(key);
  }, { on: ["order.confirmed.success", "order.claimed.*"] });
  assert.deepEqual(await subscription.dispatch(), { delivered: 3, failed: 0 });
  assert.deepEqual(await subscription.dispatch(), { delivered: 0, failed: 0 });
  assert.deepEqual(keys, [
    "order:O1:confirmed.success",
    "order:O2:confirmed.success",
    "order:O3:claimed.success",
  ]);
  await driver.close();
});

Deno.test("Subscription.open() begins a new name with what happens from now on, and a known one where it was", async () => {
  const driver = await newLedger();
  const keys: string[] = [];
  const handler: TransitionHandler = ({ key }) => void keys.push(key);
  await record(driver, orderRead(1, { orderId: "O1", status: "created" }));
  const first = await opened(driver, handler, { from: "now" });
  await record(driver, orderRead(2, { orderId: "O2", status: "created" }));
  await first.dispatch();
  await record(driver, orderRead(3, { orderId: "O3", status: "created" }));
  const second = await opened(driver, handler, { from: "now" });
  await second.dispatch();
  assert.deepEqual(keys, [
    "order:O2:confirmed.created",
    "order:O3:confirmed.created",
  ]);
  await driver.close();
});

Deno.test("Subscription.dispatch() lets a failing entity wait, and no other", async () => {
  const driver = await newLedger();
  let nowMs = Date.parse(at(60));
  let broken = true;
  const seen: string[] = [];
  const attempts: number[] = [];
  await record(driver, ...lives("O1", "O2"));
  await using subscription = await opened(
    driver,
    (transition, { attempt }) => {
      if (transition.id === "O1" && transition.status === "progress") {
        attempts.push(attempt);
        if (broken) throw new Error("out of order");
      }
      seen.push(`${transition.id} ${transition.status}`);
    },
    {},
    { now: () => nowMs },
  );
  assert.deepEqual(await subscription.dispatch(), { delivered: 5, failed: 1 });
  assert.deepEqual(seen, [
    "O1 created",
    "O2 created",
    "O2 progress",
    "O2 pending",
    "O2 success",
  ]);
  const subscriptions = subscriptionsOf(driver, () => nowMs);
  const [status] = await subscriptions.list();
  assert.deepEqual(
    [status?.behind, status?.retrying, status?.waiting, status?.dead],
    [0, 1, 2, 0],
  );
  assert.equal((await subscriptions.queued("test"))[0]?.error, "out of order");
  nowMs += 999;
  assert.deepEqual(await subscription.dispatch(), { delivered: 0, failed: 0 });
  nowMs += 1;
  assert.deepEqual(await subscription.dispatch(), { delivered: 0, failed: 1 });
  nowMs += 1999;
  assert.deepEqual(await subscription.dispatch(), { delivered: 0, failed: 0 });
  broken = false;
  nowMs += 1;
  assert.deepEqual(await subscription.dispatch(), { delivered: 3, failed: 0 });
  assert.deepEqual(attempts, [1, 2, 3]);
  assert.deepEqual(seen.slice(5), ["O1 progress", "O1 pending", "O1 success"]);
  assert.deepEqual(await subscriptions.queued("test"), []);
  await driver.close();
});

Deno.test("Subscriptions.list() counts among what waits what is recorded of an order after a transition of it failed", async () => {
  const driver = await newLedger();
  await using subscription = await opened(driver, ({ id }) => {
    if (id === "O1") throw new Error("not now");
  });
  await record(driver, orderRead(1, { orderId: "O1", status: "created" }));
  await subscription.dispatch();
  await record(
    driver,
    orderRead(2, { orderId: "O1", status: "progress", changed: 2 }),
    orderRead(2, { orderId: "O2", status: "created" }),
  );
  const subscriptions = subscriptionsOf(driver);
  const [status] = await subscriptions.list();
  assert.deepEqual(
    [status?.behind, status?.retrying, status?.waiting],
    [1, 1, 1],
  );
  assert.deepEqual(await subscription.dispatch(), { delivered: 1, failed: 0 });
  assert.deepEqual(
    (await subscriptions.queued("test")).map(({ state }) => state),
    ["retrying", "waiting"],
  );
  await driver.close();
});

Deno.test("Subscription.dispatch() tries again at once what a clock that was ahead has put off", async () => {
  const driver = await newLedger();
  const wrongMs = Date.parse("2036-01-01T00:00:00Z");
  let nowMs = wrongMs;
  let broken = true;
  await record(driver, ...lives("O1"));
  await using subscription = await opened(
    driver,
    () => {
      if (broken) throw new Error("out of order");
    },
    { retryDelayMs: () => Infinity },
    { now: () => nowMs },
  );
  assert.deepEqual(await subscription.dispatch(), { delivered: 0, failed: 1 });
  nowMs = Date.parse(at(60));
  assert.deepEqual(await subscription.dispatch(), { delivered: 0, failed: 1 });
  // What is put off by a clock that is right waits, and not for ever.
  broken = false;
  assert.deepEqual(await subscription.dispatch(), { delivered: 0, failed: 0 });
  nowMs += 31 * 24 * 3_600_000;
  assert.deepEqual(await subscription.dispatch(), { delivered: 4, failed: 0 });
  await driver.close();
});

Deno.test("Subscription.dispatch() tries again what failed, though its delay is no number or lies in the past", async () => {
  for (const delayMs of [NaN, -Infinity, -1e15]) {
    const driver = await newLedger();
    await record(driver, orderRead(1, { orderId: "O1", status: "created" }));
    let calls = 0;
    await using subscription = await opened(driver, () => {
      if (++calls === 1) throw new Error("not now");
    }, { retryDelayMs: () => delayMs });
    await subscription.dispatch();
    await subscription.dispatch();
    assert.equal(calls, 2);
    await driver.close();
  }
});

Deno.test("Subscription.dispatch() delivers what is new while many that failed before take long", async () => {
  const driver = await newLedger();
  const failing = Array.from({ length: 300 }, (_, n) => `F${n}`);
  await record(
    driver,
    ...failing.map((orderId, n) =>
      orderRead(n, { orderId, status: "created" })
    ),
  );
  let nowMs = Date.parse(at(600));
  const slow: (() => void)[] = [];
  let ended = 0;
  let endedBefore: number | null = null;
  await using subscription = await opened(
    driver,
    async ({ id }, { attempt }) => {
      if (id === "NEW") endedBefore = ended;
      else if (attempt === 1) throw new Error("out of order");
      else await new Promise<void>((resolve) => slow.push(resolve));
    },
    {
      concurrency: 4,
      retryDelayMs: () => 1000,
      sleep: () => new Promise((resolve) => setTimeout(resolve, 1)),
    },
    { now: () => nowMs },
  );
  assert.equal((await subscription.dispatch()).failed, 300);
  nowMs += 1000;
  await record(driver, orderRead(700, { orderId: "NEW", status: "created" }));
  const dispatched = subscription.dispatch();
  await until(() => {
    for (const end of slow.splice(0, endedBefore === null ? 1 : 300)) {
      ended++;
      end();
    }
    return ended === 300;
  });
  assert.deepEqual(await dispatched, { delivered: 301, failed: 0 });
  assert.ok(endedBefore !== null && endedBefore < 10, String(endedBefore));
  await driver.close();
});

Deno.test("Subscription.wake() delivers what is new, and stop() waits for the handler", async () => {
  const driver = await newLedger();
  const keys: string[] = [];
  let delivered = () => {};
  const first = new Promise<void>((resolve) => delivered = resolve);
  const subscription = await opened(driver, ({ key }, { signal }) => {
    keys.push(key);
    assert.equal(signal.aborted, false);
    delivered();
  }, { start: true, idleMs: 3_600_000 });
  await record(driver, orderRead(1, { orderId: "O1", status: "created" }));
  subscription.wake();
  await first;
  await subscription.stop();
  await record(driver, orderRead(2, { orderId: "O2", status: "created" }));
  subscription.wake();
  assert.deepEqual(keys, ["order:O1:confirmed.created"]);
  await driver.close();
});

Deno.test("Subscription.open() tells of a failing database and goes on", async () => {
  const driver = await newLedger();
  let failing = true;
  const errors: string[] = [];
  const flaky: Driver = {
    ...driver,
    location: "memory",
    batch(statements, mode) {
      const isDue = statements.some(({ sql }) => sql.includes("outbox"));
      if (failing && mode === "read" && isDue) {
        return Promise.reject(new Error("gone"));
      }
      return driver.batch(statements, mode);
    },
    close: () => Promise.resolve(),
  };
  await record(driver, orderRead(1, { orderId: "O1", status: "created" }));
  let delivered = () => {};
  const done = new Promise<void>((resolve) => delivered = resolve);
  await using _subscription = await opened(flaky, () => delivered(), {
    start: true,
    onError: (error) => {
      errors.push((error as Error).message);
      failing = errors.length < 3;
    },
    sleep: () => Promise.resolve(),
  });
  await done;
  assert.deepEqual(errors, ["gone", "gone", "gone"]);
});

Deno.test("Subscriptions.fire() tells of what a refold or an import made true, once", async () => {
  const driver = await newLedger();
  await record(driver, ...lives("O1", "a:claimed.b"));
  const keys: string[] = [];
  await using subscription = await opened(driver, ({ key }) => {
    keys.push(key);
  }, { from: "now" });
  // What a refold leaves: states that no transition speaks of, or a past one.
  await driver.batch([{
    sql: `DELETE FROM log WHERE code = 'confirmed.success'
      AND no = (SELECT no FROM orders WHERE id = 'O1')`,
    args: [],
  }, {
    sql: `UPDATE log SET flags = 0
      WHERE no = (SELECT no FROM orders WHERE id = 'a:claimed.b')`,
    args: [],
  }], "write");
  const subscriptions = subscriptionsOf(driver);
  const missing = await subscriptions.unfired();
  assert.deepEqual(missing.map(({ key }) => key), [
    "order:O1:confirmed.success",
  ]);
  const all = await subscriptions.unfired({ imported: true });
  assert.deepEqual(all.map(({ key }) => key), [
    "order:O1:confirmed.success",
    "order:a:claimed.b:confirmed.success",
  ]);
  assert.equal(await subscriptions.fire(["order:O1:confirmed.failed", "x"]), 0);
  const wanted = all.map(({ key }) => key);
  assert.equal(await subscriptions.fire(wanted), 2);
  assert.equal(await subscriptions.fire(wanted), 0);
  await subscription.dispatch();
  assert.deepEqual(keys, wanted);
  assert.deepEqual(await subscriptions.unfired({ imported: true }), []);
  await driver.close();
});

Deno.test("Subscription.dispatch() hands over the state as it is now, and whether to release the goods", async () => {
  const driver = await newLedger();
  const heard: string[] = [];
  await using subscription = await opened(
    driver,
    ({ status }, { state, release, current, position }) => {
      heard.push(
        `${status}: ${current ? "still" : "now"} ${state?.status} at ` +
          `${position}, release ${release}`,
      );
    },
    { on: ["order.confirmed.*", "user.lkyc.claimed.*"] },
  );
  const success = orderRead(1, { orderId: "O1", status: "success" });
  await record(driver, success);
  await subscription.dispatch();
  // Forged webhooks change nothing of it.
  await record(
    driver,
    orderWebhook("W1", 2, { type: "order_failed", orderId: "O1", user: "U1" }),
    orderRead(3, { orderId: "O2", status: "success", changed: 3 }),
    orderRead(4, { orderId: "O2", status: "failed", changed: 4 }),
  );
  await subscription.dispatch();
  assert.deepEqual(heard, [
    "success: still success at 1, release wait",
    "success: still initiated at 4, release null",
    "success: now failed at 4, release no",
    "failed: still failed at 4, release no",
  ]);
  await driver.close();
});

Deno.test("Subscription.open() with other patterns takes what it missed since it had nothing left, repeats nothing, and drops what it takes no more", async () => {
  const driver = await newLedger();
  const keys: string[] = [];
  const handler: TransitionHandler = ({ key }) => void keys.push(key);
  const reading = (orderId: string, minute: number, status: string) =>
    orderRead(minute, { orderId, status, changed: minute });
  const first = await opened(driver, handler, {
    on: ["order.confirmed.success", "order.confirmed.pending"],
  });
  await first.dispatch();
  await record(driver, reading("O1", 1, "failed"), reading("O2", 2, "success"));
  await first.dispatch();
  await record(
    driver,
    reading("O3", 3, "failed"),
    reading("O4", 4, "success"),
    reading("O5", 5, "pending"),
  );
  const second = await opened(driver, handler, {
    on: ["order.confirmed.failed", "order.confirmed.success"],
  });
  await second.dispatch();
  assert.equal(keys.shift(), "order:O2:confirmed.success");
  assert.deepEqual(keys.toSorted(), [
    "order:O1:confirmed.failed",
    "order:O3:confirmed.failed",
    "order:O4:confirmed.success",
  ]);
  await driver.close();
});

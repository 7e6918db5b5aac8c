import assert from "node:assert/strict";
import { newLedger } from "../testing/fold_kit.ts";
import {
  lives,
  opened,
  record,
  statuses,
  subscriptionsOf,
} from "../testing/subscription_kit.ts";
import { at, orderRead } from "../testing/projection_test_kit.ts";

Deno.test("Subscription.dispatch() gives up after so many attempts, and later ones say what they miss", async () => {
  for (const action of ["retry", "drop"] as const) {
    const driver = await newLedger();
    let broken = true;
    const heard: string[] = [];
    await record(driver, ...lives("O1"));
    await using subscription = await opened(
      driver,
      ({ status }, { missed, late }) => {
        if (broken && status === "created") throw new Error("never");
        heard.push(
          `${status}${late ? " late" : ""} after ${missed.join() || "all"}`,
        );
      },
      { maxAttempts: 3, retryDelayMs: () => 0 },
    );
    assert.deepEqual(await subscription.dispatch(), {
      delivered: 3,
      failed: 3,
    });
    const created = "order:O1:confirmed.created";
    assert.deepEqual(
      heard.splice(0),
      statuses.slice(1).map((status) => `${status} after ${created}`),
    );
    const subscriptions = subscriptionsOf(driver);
    const dead = await subscriptions.deadLetters("test");
    assert.deepEqual(
      dead.map(({ transition, attempts }) => [transition.key, attempts]),
      [[created, 3]],
    );
    assert.deepEqual(await subscription.dispatch(), {
      delivered: 0,
      failed: 0,
    });
    broken = false;
    assert.equal(await subscriptions[action]("test", "order:O9:x.y"), 0);
    assert.equal(await subscriptions[action]("test", created), 1);
    await record(driver, orderRead(9, { orderId: "O1", status: "cancelled" }));
    await subscription.dispatch();
    assert.deepEqual(
      heard,
      action === "retry"
        ? ["created late after all", "cancelled after all"]
        : ["cancelled after all"],
    );
    assert.deepEqual(await subscriptions.queued("test"), []);
    await driver.close();
  }
});

Deno.test("Subscriptions.hasten() delivers at once what waits for its next attempt", async () => {
  const driver = await newLedger();
  let broken = true;
  const seen: string[] = [];
  await record(driver, ...lives("O1"));
  await using subscription = await opened(driver, ({ status }) => {
    if (broken) throw new Error("not now");
    seen.push(status);
  }, { retryDelayMs: () => 3_600_000 });
  await subscription.dispatch();
  broken = false;
  assert.deepEqual(await subscription.dispatch(), { delivered: 0, failed: 0 });
  const subscriptions = subscriptionsOf(driver);
  assert.equal(await subscriptions.hasten("test"), 1);
  assert.equal(await subscriptions.hasten("test"), 0);
  await subscription.dispatch();
  assert.deepEqual(seen, statuses);
  await driver.close();
});

Deno.test("Subscription.dispatch() lets a late letter that fails again hold nobody", async () => {
  const driver = await newLedger();
  let broken = true;
  const heard: string[] = [];
  await record(driver, ...lives("O1"));
  await using subscription = await opened(
    driver,
    ({ status }, { missed }) => {
      if (broken && status === "created") throw new Error("never");
      heard.push(`${status} misses ${missed.length}`);
    },
    { maxAttempts: 1 },
  );
  await subscription.dispatch();
  const subscriptions = subscriptionsOf(driver);
  await subscriptions.retry("test");
  await record(driver, orderRead(9, { orderId: "O1", status: "cancelled" }));
  await subscription.dispatch();
  assert.deepEqual(heard.at(-1), "cancelled misses 1");
  assert.equal((await subscriptions.deadLetters("test")).length, 1);
  broken = false;
  await subscriptions.retry("test");
  await subscription.dispatch();
  assert.deepEqual(heard.at(-1), "created misses 0");
  await driver.close();
});

Deno.test("Subscription.dispatch() keeps the order of one whose first letter is sent by hand before any later one", async () => {
  const driver = await newLedger();
  let broken = true;
  const heard: string[] = [];
  await record(driver, orderRead(1, { orderId: "O1", status: "created" }));
  await using subscription = await opened(driver, ({ status }, { late }) => {
    if (broken) throw new Error("never");
    heard.push(`${status}${late ? " late" : ""}`);
  }, { maxAttempts: 1 });
  await subscription.dispatch();
  broken = false;
  const subscriptions = subscriptionsOf(driver);
  await subscriptions.retry("test");
  await record(driver, orderRead(2, { orderId: "O1", status: "progress" }));
  await subscription.dispatch();
  assert.deepEqual(heard, ["created", "progress"]);
  await driver.close();
});

Deno.test("Subscription.dispatch() tells at once what waits for a receiver that is back", async () => {
  const driver = await newLedger();
  let nowMs = Date.parse(at(60));
  let down = true;
  const seen: string[] = [];
  const orders = Array.from({ length: 5 }, (_, n) => `O${n}`);
  await record(
    driver,
    ...orders.map((orderId) => orderRead(1, { orderId, status: "created" })),
  );
  await using subscription = await opened(
    driver,
    ({ id }) => {
      if (down) throw new Error("connection refused");
      seen.push(id);
    },
    {},
    { now: () => nowMs },
  );
  for (let second = 0; second <= 80; second++, nowMs += 1000) {
    await subscription.dispatch();
  }
  down = false;
  await record(driver, orderRead(2, { orderId: "NEW", status: "created" }));
  await subscription.dispatch();
  assert.deepEqual(seen.toSorted(), ["NEW", ...orders]);
  assert.deepEqual(await subscriptionsOf(driver).queued("test"), []);
  await driver.close();
});

Deno.test("Subscription.dispatch() does not hurry what always fails while others are told", async () => {
  const driver = await newLedger();
  let nowMs = Date.parse(at(60));
  let attempts = 0;
  await using subscription = await opened(
    driver,
    ({ id }) => {
      if (!id.startsWith("BAD")) return;
      attempts++;
      throw new Error("never");
    },
    {},
    { now: () => nowMs },
  );
  const bad = ["BAD1", "BAD2", "BAD3", "BAD4"];
  await record(
    driver,
    ...bad.map((orderId) => orderRead(1, { orderId, status: "created" })),
  );
  for (let second = 0; second < 60; second++, nowMs += 1000) {
    await record(
      driver,
      orderRead(second, { orderId: `O${second}`, status: "created" }),
    );
    await subscription.dispatch();
  }
  // At 0, 1, 3, 7, 15 and 31 s, and once more when others are told after them.
  assert.ok(attempts <= 7 * bad.length, String(attempts));
  assert.deepEqual(await subscriptionsOf(driver).deadLetters("test"), []);
  await driver.close();
});

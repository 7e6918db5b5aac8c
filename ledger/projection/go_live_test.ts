import assert from "node:assert/strict";
import type { NewEvent } from "../events/event.ts";
import { goLive } from "../go_live.ts";
import type { Driver } from "../store/driver/driver.ts";
import { LedgerError } from "../store/driver/errors.ts";
import { readTransitions } from "../store/tables/transitions.ts";
import {
  at,
  emptyStore,
  orderRead,
  orderWebhook,
  rowsOf,
  session,
} from "../testing/projection_test_kit.ts";
import { Subscriptions } from "../subscriptions/subscriptions.ts";
import { opened, record } from "../testing/subscription_test_kit.ts";

const LIVE = at(30);

/** A ledger that goes live at minute 30. */
async function live(...events: NewEvent[]): Promise<Driver> {
  const driver = await emptyStore();
  await goLive(driver, LIVE, 0);
  if (events.length > 0) await record(driver, ...events);
  return driver;
}

/** What a handler of everything is called with. */
async function told(driver: Driver): Promise<string[]> {
  const keys: string[] = [];
  await using subscription = await opened(driver, ({ key }) => {
    keys.push(key.slice("order:".length));
  }, { on: "*" });
  await subscription.dispatch();
  return keys;
}

const old = (minute: number, status = "success", orderId = "O1") =>
  orderRead(minute, {
    orderId,
    status,
    click: "C1",
    tx: "0xT",
    created: 2,
    changed: minute > 31 ? minute : 3,
  });

Deno.test("goLive() stamps once, and refuses another time", async () => {
  const driver = await emptyStore();
  assert.equal(await goLive(driver, undefined, Date.parse(at(1))), at(1));
  assert.equal(await goLive(driver, undefined, Date.parse(at(2))), at(1));
  assert.equal(await goLive(driver, at(1), 0), at(1));
  await assert.rejects(goLive(driver, at(3), 0), LedgerError);
  await assert.rejects(goLive(driver, "yesterday", 0), TypeError);
  await driver.close();
});

Deno.test("Projector.step() tells nobody of what had ended before the ledger went live", async () => {
  const driver = await live(old(31), old(31, "failed", "O2"));
  assert.deepEqual(await told(driver), []);
  const log = await readTransitions(driver);
  assert.deepEqual(log.map(({ key, live }) => [key, live]), [
    ["order:O1:confirmed.success", false],
    ["order:O1:release.unchecked", false],
    ["order:O2:confirmed.failed", false],
  ]);
  await driver.close();
});

Deno.test("Projector.step() tells of a claw-back of an old success", async () => {
  const driver = await live(old(31), old(40, "failed"));
  assert.deepEqual(await told(driver), [
    "O1:confirmed.failed",
    "O1:release.no",
  ]);
  const historic = await rowsOf(driver, "SELECT * FROM historic_orders");
  assert.deepEqual(historic, [], "it is historic no more");
  await driver.close();
});

Deno.test("Projector.step() tells of an old order that was open when it was first read", async () => {
  const driver = await live(old(31, "pending"), old(40));
  assert.deepEqual(await told(driver), [
    "O1:confirmed.pending",
    "O1:confirmed.success",
    "O1:release.unchecked",
  ]);
  await driver.close();
});

Deno.test("Projector.step() tells of an old order that was expected in this ledger", async () => {
  const driver = await live(session(1, "S1", "C1"), old(31));
  assert.deepEqual(await told(driver), [
    "O1:confirmed.success",
    "O1:release.yes",
  ]);
  await driver.close();
});

Deno.test("Projector.step() withholds a yes that only a later expectation brings to a historic order", async () => {
  const driver = await live(old(31), session(1, "S1", "C1"));
  assert.deepEqual(await told(driver), []);
  const withheld = await rowsOf(
    driver,
    "SELECT entity_id, status FROM transitions WHERE withheld = 1",
  );
  assert.deepEqual(withheld, [["O1", "yes"]]);
  // A person looks at it, and fires that one key.
  const subscriptions = new Subscriptions(driver, () => Date.parse(at(60)));
  const [unfired] = await subscriptions.unfired();
  assert.equal(unfired?.key, "order:O1:release.yes");
  assert.equal(await subscriptions.fire(["order:O1:release.yes"]), 1);
  assert.equal(await subscriptions.fire(["order:O1:release.yes"]), 0);
  assert.deepEqual(await told(driver), ["O1:release.yes"]);
  await driver.close();
});

Deno.test("Projector.step() tells of a claim whenever it was made", async () => {
  const claim = (minute: number) =>
    orderWebhook("W1", minute, { type: "order_complete", orderId: "O1" });
  const driver = await live(claim(31), old(32));
  assert.deepEqual(await told(driver), ["O1:claimed.success"]);
  await driver.close();
});

Deno.test("Projector.step() withholds nothing of a new shop at a service whose clock is a second behind", async () => {
  const behind = new Date(Date.parse(LIVE) - 1000).toISOString()
    .slice(0, 19).replace("T", " ");
  const driver = await live(
    orderRead(32, {
      orderId: "O1",
      status: "success",
      createdAt: behind,
      changedAt: behind,
    }),
  );
  assert.deepEqual(await told(driver), [
    "O1:confirmed.success",
    "O1:release.wait",
  ]);
  await driver.close();
});

Deno.test("Projector.step() takes over an account with thousands of past orders: nothing is told, the last fourteen days are listed", async () => {
  const day = 24 * 60;
  const orders = Array.from({ length: 3000 }, (_, place) => {
    const changed = -day * Math.floor(place / 100);
    return orderRead(31, {
      orderId: `O${place}`,
      status: place % 3 === 0 ? "failed" : "success",
      created: changed - 5,
      changed,
    });
  });
  const driver = await live(...orders);
  assert.deepEqual(await told(driver), []);
  const [counts] = await rowsOf(
    driver,
    "SELECT count(*), sum(listed) FROM historic_orders",
  );
  assert.equal(counts?.[0], 3000);
  assert.equal(counts?.[1], 1400 - Math.ceil(1400 / 3));
  const [booked] = await rowsOf(
    driver,
    "SELECT count(*) FROM orders WHERE status = 'success'",
  );
  assert.deepEqual(booked, [2000]);
  await driver.close();
});

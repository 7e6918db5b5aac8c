import assert from "node:assert/strict";
import { concatenated } from "../../core/bytes.ts";
import { deliveryRecord } from "../../core/wire/delivery_records.ts";
import { temporaryFolder } from "../../tests/kit/temporary_folder.ts";
import { webhookEvent } from "../testing/mint.ts";
import type { Ledger } from "../ledger.ts";
import { openLedger } from "../open_ledger.ts";
import { timeOf } from "../store/events.ts";
import { emptyLedger } from "../testing/empty_ledger.ts";
import type { NewEvent } from "../events/event.ts";
import { type Driver, LedgerError } from "../store/database.ts";
import { readTransitions } from "../reads/releases.ts";
import { newLedger, select } from "../testing/fold_kit.ts";
import {
  at,
  orderRead,
  orderWebhook,
  session,
} from "../testing/projection_test_kit.ts";
import {
  opened,
  record,
  subscriptionsOf,
} from "../testing/subscription_kit.ts";
import { goLive } from "./notes.ts";

const LIVE = at(30);

/** A ledger that goes live at minute 30. */
async function live(
  ...events: NewEvent[]
): Promise<Driver & AsyncDisposable> {
  const driver = await newLedger();
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
  await using driver = await newLedger();
  assert.equal(await goLive(driver, undefined, Date.parse(at(1))), at(1));
  assert.equal(await goLive(driver, undefined, Date.parse(at(2))), at(1));
  assert.equal(await goLive(driver, at(1), 0), at(1));
  await assert.rejects(goLive(driver, at(3), 0), LedgerError);
  for (const time of ["yesterday", "2026-02-30T08:00:00Z"]) {
    await assert.rejects(goLive(driver, time, 0), TypeError);
  }
});

Deno.test("project() tells nobody of what had ended before the ledger went live", async () => {
  await using driver = await live(old(31), old(31, "failed", "O2"));
  assert.deepEqual(await told(driver), []);
  const log = await readTransitions(driver);
  assert.deepEqual(log.map(({ key, live }) => [key, live]), [
    ["order:O1:confirmed.success", false],
    ["order:O1:release.unchecked", false],
    ["order:O2:confirmed.failed", false],
  ]);
  // What says nothing new makes it no news.
  await record(
    driver,
    orderWebhook("W1", 32, { type: "order_complete", orderId: "O1" }),
  );
  const historic = await select(
    driver,
    "SELECT historic > 0 AS past FROM orders",
  );
  assert.deepEqual(historic, [{ past: 1 }, { past: 1 }]);
});

Deno.test("project() tells of a claw-back of an old success", async () => {
  await using driver = await live(old(31), old(40, "failed"));
  assert.deepEqual(await told(driver), [
    "O1:confirmed.failed",
    "O1:release.no",
  ]);
  const historic = await select(driver, "SELECT historic FROM orders");
  assert.deepEqual(historic, [{ historic: 0 }]);
});

Deno.test("project() tells of an old order that was open when it was first read", async () => {
  await using driver = await live(old(31, "pending"), old(40));
  assert.deepEqual(await told(driver), [
    "O1:confirmed.pending",
    "O1:confirmed.success",
    "O1:release.unchecked",
  ]);
});

Deno.test("project() tells of an old order that was expected in this ledger", async () => {
  await using driver = await live(session(1, "S1", "C1"), old(31));
  assert.deepEqual(await told(driver), [
    "O1:confirmed.success",
    "O1:release.yes",
  ]);
});

Deno.test("project() withholds a yes that only a later expectation brings to a historic order", async () => {
  await using driver = await live(old(31), session(1, "S1", "C1"));
  assert.deepEqual(await told(driver), []);
  // A person looks at it, and fires that one key.
  const subscriptions = subscriptionsOf(driver);
  const [unfired] = await subscriptions.unfired();
  assert.equal(unfired?.key, "order:O1:release.yes");
  assert.equal(await subscriptions.fire(["order:O1:release.yes"]), 1);
  assert.equal(await subscriptions.fire(["order:O1:release.yes"]), 0);
  assert.deepEqual(await told(driver), ["O1:release.yes"]);
});

Deno.test("project() tells of a claim whenever it was made", async () => {
  const claim = (minute: number) =>
    orderWebhook("W1", minute, { type: "order_complete", orderId: "O1" });
  await using driver = await live(claim(31), old(32));
  assert.deepEqual(await told(driver), ["O1:claimed.success"]);
});

Deno.test("project() withholds nothing of a new shop at a service whose clock is a second behind", async () => {
  const behind = new Date(Date.parse(LIVE) - 1000).toISOString()
    .slice(0, 19).replace("T", " ");
  await using driver = await live(
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
});

Deno.test("project() takes over an account with thousands of past orders: nothing is told, the last fourteen days are listed", async () => {
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
  await using driver = await live(...orders);
  assert.deepEqual(await told(driver), []);
  const [counts] = await select(
    driver,
    `SELECT count(*) FILTER (WHERE historic > 0) AS historic,
      count(*) FILTER (WHERE historic = 2) AS listed,
      count(*) FILTER (WHERE status = 'success') AS booked FROM orders`,
  );
  assert.deepEqual(counts, {
    historic: 3000,
    listed: 1400 - Math.ceil(1400 / 3),
    booked: 2000,
  });
});

/** An order of the service, paid as its basket asked for. */
const paid = (orderId: string, click: string, created: number) =>
  orderRead(61, {
    orderId,
    status: "success",
    click,
    tx: "0xT",
    created,
    changed: created + 3,
  });

Deno.test("a lost ledger begun anew ships what was open, and not what was shipped before", async () => {
  await using ledger = await emptyLedger({
    now: () => Date.parse(at(60)),
  });
  // 1. The baskets that are still open, at the time they were asked for.
  await ledger.expect({
    clickId: "C-open",
    reference: "basket-open",
    currency: "USD",
    currencyAmount: "10",
    askedAt: at(10),
  });
  // 2. Live from the last transition that was acted on.
  await ledger.goLive(at(30));
  const released: string[] = [];
  const goods = await ledger.subscribe(
    "goods",
    { on: ["order.release.yes", "order.release.unchecked"], start: false },
    ({ key }, { reference }) => {
      released.push(`${reference} ${key}`);
    },
  );
  // 3. The service is read from the beginning.
  await ledger.append([
    paid("shipped", "C-old", 5),
    paid("open", "C-open", 11),
    paid("later", "C-new", 50),
  ]);
  await ledger.project();
  await goods.dispatch();
  assert.deepEqual(released, [
    "basket-open order:open:release.yes",
    "null order:later:release.unchecked",
  ]);
  assert.deepEqual(await ledger.historic(), {
    orders: 1,
    users: 0,
    listed: 1,
  });
});

Deno.test("openLedger() goes live at the time that is named, and refuses another", async () => {
  await using ledger = await emptyLedger({
    goLive: "2026-11-20T17:00:00+01:00",
  });
  assert.equal(await ledger.goLive(), "2026-11-20T16:00:00.000Z");
  await assert.rejects(ledger.goLive("2026-11-21T16:00:00Z"), /gone live at/);
});

const utf8 = new TextEncoder();

const delivery = (id: string, minute: number, orderId = "new") => ({
  id,
  receivedAt: at(minute),
  body: utf8.encode(
    JSON.stringify({ type: "order_complete", order: { id: orderId } }),
  ),
});

/** When a ledger went live; null before it has. */
async function liveSince(ledger: Ledger): Promise<unknown> {
  const [found] = await ledger.driver.batch([{
    sql: "SELECT live_from FROM ledger",
    args: [],
  }], "read");
  return timeOf(found?.rows[0]?.[0]);
}

Deno.test.each([{ worker: true }, { worker: false }])(
  "a ledger goes live with the first delivery, in one commit, and not by events, readings or an import (%o)",
  async ({ worker }) => {
    await using folder = await temporaryFolder();
    const open = (name: string) =>
      openLedger({
        url: `file:${folder.path}/${name}.db`,
        environment: "sandbox",
        worker,
        now: () => Date.parse(at(60)),
      });
    await using source = await open("source");
    await source.expect({ clickId: "C", currency: "USD", currencyAmount: "1" });
    await source.append([paid("read", "C-old", 5)]);
    await source.append([webhookEvent(
      delivery("replayed", 20),
      new Uint8Array(16),
    )]);
    await source.project();
    assert.equal(await liveSince(source), null);
    await using ledger = await open("ledger");
    await ledger.import(source.export());
    await ledger.project();
    assert.equal(await liveSince(ledger), null);

    // A commit that fails does not go live.
    await assert.rejects(
      ledger.appendDelivery({ ...delivery("D0", 40), id: "\ud800" }),
    );
    assert.equal(await liveSince(ledger), null);
    await Promise.all([
      ledger.appendDelivery(delivery("D2", 42)),
      ledger.appendDelivery(delivery("D1", 41)),
    ]);
    assert.equal(await liveSince(ledger), at(41));
    await ledger.appendDelivery(delivery("D3", 30));
    assert.equal(await liveSince(ledger), at(41), "once");

    const told: string[] = [];
    const goods = await ledger.subscribe(
      "goods",
      { on: ["order.confirmed.*", "order.release.*"], start: false },
      ({ key }) => void told.push(key),
    );
    await ledger.append([paid("old", "C-old", 30), paid("new", "C", 45)]);
    await ledger.project();
    await goods.dispatch();
    assert.deepEqual(told, [
      "order:new:confirmed.success",
      "order:new:release.unchecked",
    ]);
    assert.equal((await ledger.historic()).orders, 1);
  },
);

Deno.test("a ledger goes live with the first delivery that a spool hands over", async () => {
  await using ledger = await emptyLedger();
  const records = [12, 11].map((minute, at) =>
    deliveryRecord(delivery(`01M7VZGC0000000000000000D${at}`, minute))
  );
  await ledger.appendRecords(concatenated(records));
  assert.equal(await liveSince(ledger), at(11));
});

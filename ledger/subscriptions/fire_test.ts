import assert from "node:assert/strict";
import { newLedger } from "../testing/fold_kit.ts";
import {
  goLive,
  opened,
  record,
  subscriptionsOf,
} from "../testing/subscription_kit.ts";
import { userSnapshot } from "../testing/mint.ts";
import type { NewEvent } from "../events/event.ts";
import type { Driver } from "../store/database.ts";
import {
  at,
  orderRead,
  rowsOf,
  webhook,
} from "../testing/projection_test_kit.ts";
import { settle } from "./outbox.ts";
import { readUnattended } from "./subscriptions.ts";
import { insertOutbox } from "../projection/log.ts";
import { readHistoric } from "../reads/stats.ts";

const LIVE = at(30);

/** An order that was a success before the ledger went live. */
const old = (orderId: string, minute = 31, status = "success") =>
  orderRead(minute, {
    orderId,
    status,
    click: "C1",
    tx: "0xT",
    created: 2,
    changed: minute > 31 ? minute : 3,
  });

/** A user who was there before. */
const oldUser = (fkyc: string, minute = 31): NewEvent =>
  userSnapshot({
    source: JSON.stringify({
      user_id: "U1",
      fkyc_status: fkyc,
      banned: false,
      created_at: "2026-11-20 08:01:00",
    }),
    readAt: at(minute),
    recordedAt: at(minute),
    salt: new Uint8Array(16),
  });

async function live(...events: NewEvent[]): Promise<Driver> {
  const driver = await newLedger();
  await goLive(driver, LIVE);
  await record(driver, ...events);
  return driver;
}

Deno.test("Subscriptions.fireHistoric() tells one subscription of the past, in order and once, but for releases", async () => {
  const failed = orderRead(31, { orderId: "O3", status: "failed" });
  const driver = await live(
    ...[old("O1"), old("O2"), failed, oldUser("success"), old("O9")],
  );
  // As if an expectation had come with the upgrade: a release of the past.
  await driver.batch([{
    sql: `INSERT INTO log (no, code, entry, position, flags, more)
      SELECT no, 'release.yes', 1, position, flags, more FROM log
      WHERE code = 'release.unchecked'
        AND no = (SELECT no FROM orders WHERE id = 'O9')`,
    args: [],
  }], "write");
  const told: string[] = [];
  await using goods = await opened(
    driver,
    ({ key }, { late }) => void told.push(late ? `late ${key}` : key),
    { on: "*" },
  );
  let others = 0;
  await using other = await opened(driver, () => void others++, { on: "*" }, {
    name: "other",
  });
  const subscriptions = subscriptionsOf(driver);
  const unfired = await subscriptions.unfired({ imported: true });
  assert.deepEqual(unfired, [], "nothing of it was imported");
  const plan = { transitions: 9, released: 1 };
  assert.deepEqual(
    await subscriptions.fireHistoric("test", { dryRun: true }),
    plan,
  );
  await goods.dispatch();
  assert.equal(told.length, 0, "a dry run tells nothing");
  assert.deepEqual(await subscriptions.fireHistoric("test"), plan);
  assert.deepEqual(await subscriptions.fireHistoric("test"), {
    transitions: 0,
    released: 0,
  });
  await goods.dispatch();
  await goods.dispatch();
  await other.dispatch();
  const byEntity = (id: string) =>
    told.filter((key) => key.includes(`:${id}:`));
  assert.deepEqual(byEntity("O1"), [
    "order:O1:confirmed.success",
    "order:O1:release.unchecked",
  ]);
  assert.deepEqual(byEntity("O3"), ["order:O3:confirmed.failed"]);
  assert.deepEqual(byEntity("U1"), [
    "user:U1:fkyc.confirmed.success",
    "user:U1:ban.confirmed.not_banned",
  ]);
  assert.equal(told.length, 9);
  assert.equal(others, 0, "nobody else is told");
  assert.deepEqual(await subscriptions.queued("test"), []);
  await driver.close();
});

Deno.test("Subscriptions.fireHistoric() takes only what the subscription takes, and says late after what was told since", async () => {
  const driver = await live(
    old("O1"),
    old("O2"),
    old("O2", 40, "failed"),
  );
  const told: string[] = [];
  await using goods = await opened(
    driver,
    ({ key }, { late }) => void told.push(late ? `late ${key}` : key),
    { on: ["order.confirmed.*"] },
  );
  await goods.dispatch();
  assert.deepEqual(told.splice(0), ["order:O2:confirmed.failed"]);
  const subscriptions = subscriptionsOf(driver);
  assert.equal((await subscriptions.fireHistoric("test")).transitions, 2);
  await goods.dispatch();
  assert.deepEqual(told.toSorted(), [
    "late order:O2:confirmed.success",
    "order:O1:confirmed.success",
  ]);
  await driver.close();
});

Deno.test("Subscriptions.fireHistoric() goes on where it was stopped, and two at once tell nothing twice", async () => {
  const many = Array.from({ length: 1300 }, (_, n) => old(`O${n}`));
  const driver = await live(...many);
  const told: string[] = [];
  await using goods = await opened(
    driver,
    ({ key }) => void told.push(key),
    // Told of 2600 in one turn: no busy machine takes the lease meanwhile.
    { on: ["order.*.*", "order.release.*"], leaseMs: 600_000 },
  );
  const subscriptions = subscriptionsOf(driver);
  const stop = new AbortController();
  let writes = 0;
  const stopping: Driver = {
    location: driver.location,
    batch: async (statements, mode) => {
      const results = await driver.batch(statements, mode);
      if (statements.length > 1 && ++writes === 1) stop.abort();
      return results;
    },
    close: () => Promise.resolve(),
  };
  await assert.rejects(
    subscriptionsOf(stopping).fireHistoric("test", { signal: stop.signal }),
  );
  const [place] = await rowsOf(
    driver,
    "SELECT historic_seq FROM subscriptions",
  );
  assert.equal(place?.[0], 1000);
  await Promise.all([1, 2, 3].map(() => subscriptions.fireHistoric("test")));
  while ((await goods.dispatch()).delivered > 0);
  assert.equal(told.length, 2600);
  assert.equal(new Set(told).size, 2600);
  await driver.close();
});

Deno.test("project() withholds what users had come to before the ledger went live, and tells what a webhook claimed", async () => {
  const claim = webhook("W1", 30, {
    type: "verify_success",
    click_id: "",
    user: {
      user_id: "U1",
      verification_status: { fkyc: { state: "success" } },
    },
  });
  const told = async (driver: Driver) => {
    const keys: string[] = [];
    await using all = await opened(driver, ({ key }) => void keys.push(key), {
      on: "*",
    });
    await all.dispatch();
    return keys;
  };
  const driver = await live(oldUser("success"));
  assert.deepEqual(await told(driver), []);
  assert.deepEqual(
    await readHistoric(driver),
    { orders: 0, users: 1, listed: 0 },
  );
  // What changes later is told.
  await record(driver, oldUser("failed", 40));
  assert.deepEqual(await told(driver), ["user:U1:fkyc.confirmed.failed"]);
  await driver.close();
  const claimed = await live(claim, oldUser("success"));
  assert.deepEqual(await told(claimed), [
    "user:U1:fkyc.claimed.success",
    "user:U1:fkyc.confirmed.success",
  ]);
  await claimed.close();
});

Deno.test("settle() looks up what is in the outbox of an order, and walks none", async () => {
  const driver = await live(old("O1"));
  const one = { seq: 3, no: 2, before: 0 };
  const after = { state: "due", attempts: 1, dueAt: 5, error: null } as const;
  const statements = [
    ...settle("test", [{ ...one, after: "told" }, { ...one, after }]),
    ...insertOutbox("test", [one]),
  ];
  const walks: string[] = [];
  for (const { sql, args } of statements) {
    const explain = { sql: `EXPLAIN QUERY PLAN ${sql}`, args };
    const [plan] = await driver.batch([explain], "write");
    assert.ok((plan?.rows.length ?? 0) > 0);
    for (const row of plan?.rows ?? []) {
      const step = String(row[3]);
      const isWalk = /(SCAN|SEARCH) (b|f|outbox|handed)( |$)/.test(step) &&
        !/seq=\?|no=\?/.test(step);
      if (isWalk) walks.push(step);
    }
  }
  assert.deepEqual(walks, []);
  assert.equal(statements.length, 6);
  await driver.close();
});

Deno.test("Subscriptions.fire() of a state of the past that one was sent already takes its place there", async () => {
  const driver = await live(old("O1"));
  const told: string[] = [];
  await using goods = await opened(driver, ({ key }) => void told.push(key), {
    on: "order.confirmed.*",
  });
  const subscriptions = subscriptionsOf(driver);
  await subscriptions.fireHistoric("test");
  assert.equal(await subscriptions.fire(["order:O1:confirmed.success"]), 1);
  await goods.dispatch();
  assert.deepEqual(told, ["order:O1:confirmed.success"]);
  assert.deepEqual(await rowsOf(driver, "SELECT * FROM outbox"), []);
  await driver.close();
});

Deno.test("Subscriptions.list() counts what is sent late, and queued() what was tried", async () => {
  const driver = await live(old("O1"), old("O1", 40, "failed"));
  await using goods = await opened(driver, () => {
    throw new Error("not now");
  }, { on: "order.confirmed.success", maxAttempts: 1 });
  await goods.dispatch();
  const subscriptions = subscriptionsOf(driver);
  await subscriptions.fireHistoric("test");
  const counts = async () => {
    const [status] = await subscriptions.list();
    const queued = await subscriptions.queued("test");
    return [status?.behind, status?.retrying, status?.dead, queued.length];
  };
  assert.deepEqual(await counts(), [1, 0, 0, 0]);
  await goods.dispatch();
  assert.deepEqual(await counts(), [0, 0, 1, 1]);
  await subscriptions.retry("test");
  assert.deepEqual(await counts(), [0, 1, 0, 1]);
  await driver.close();
});

Deno.test("readUnattended() lists one whose deliveries all failed and that nobody tries again", async () => {
  const driver = await newLedger();
  await record(driver, orderRead(1, { orderId: "O1", status: "created" }));
  const goods = await opened(driver, () => {
    throw new Error("not now");
  });
  await goods.dispatch();
  const names = async (minute: number) =>
    (await readUnattended(driver, at(minute))).map(({ name }) => name);
  assert.deepEqual(await names(60), []);
  assert.deepEqual(await names(62), ["test"]);
  await driver.close();
});

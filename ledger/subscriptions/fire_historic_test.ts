import assert from "node:assert/strict";
import { userSnapshot } from "../events/mint.ts";
import type { NewEvent } from "../events/event.ts";
import { goLive } from "../go_live.ts";
import type { Driver } from "../store/driver/driver.ts";
import {
  at,
  emptyStore,
  orderRead,
  rowsOf,
  webhook,
} from "../testing/projection_test_kit.ts";
import { opened, record } from "../testing/subscription_test_kit.ts";
import { countHistoric } from "../store/tables/go_live.ts";
import { settleQueue } from "../store/tables/subscriptions/queued_transitions.ts";
import { readTransitions } from "../store/tables/transitions.ts";
import { Subscriptions } from "./subscriptions.ts";

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
  const driver = await emptyStore();
  await goLive(driver, LIVE, 0);
  await record(driver, ...events);
  return driver;
}

const subscriptionsOf = (driver: Driver) =>
  new Subscriptions(driver, () => Date.parse(at(50)));

Deno.test("Subscriptions.fireHistoric() tells one subscription of the past, in order and once, but for releases", async () => {
  const expected = orderRead(31, { orderId: "O3", status: "failed" });
  const driver = await live(old("O1"), old("O2"), expected, oldUser("success"));
  // As if an expectation had come with the upgrade: a release of the past.
  await driver.batch([{
    sql: `INSERT INTO transitions (entity, entity_id, machine, trust, status,
        entry, reverses, position, recorded_at, live, shown, reason, historic)
      SELECT entity, 'O9', machine, trust, 'yes', 1, reverses, position,
        recorded_at, 0, shown, 'session_matched', 1
      FROM transitions WHERE entity_id = 'O1' AND machine = 'release'`,
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
  const plan = { transitions: 7, released: 1 };
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
  assert.equal(told.length, 7);
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

Deno.test("Projector.step() withholds what users had come to before the ledger went live, and tells what a webhook claimed", async () => {
  const claim = webhook("W1", 30, {
    type: "verify_success",
    click_id: "",
    user: {
      user_id: "U1",
      verification_status: { fkyc: { state: "success" } },
    },
  });
  const count = async (driver: Driver) =>
    (await driver.batch(
      [countHistoric],
      "read",
    ))[0]?.rows[0];
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
  assert.deepEqual(await count(driver), [0, 0, 1]);
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

Deno.test("settleQueue() looks up what is queued of an order, and walks no queue", async () => {
  const driver = await live(old("O1"));
  const [first] = await readTransitions(driver);
  const transition = first ?? assert.fail();
  const statements = settleQueue("test", {
    queued: [{
      ...{ transition, state: "waiting", attempts: 0, dueAt: "" },
      ...{ error: null, overtaken: false },
    }],
    failed: [],
    delivered: [transition],
    passing: [transition],
    released: [],
  });
  const walks: string[] = [];
  let looked = 0;
  for (const { sql, args } of statements) {
    if (sql.startsWith("INSERT")) continue;
    looked++;
    // The driver explains what reads: so the same rows are selected.
    const rows = sql.slice(sql.indexOf("WHERE subscription = ?1"));
    const select = `SELECT 1 FROM queued_transitions ${rows}`;
    const [plan] = await driver.batch([
      { sql: `EXPLAIN QUERY PLAN ${select}`, args },
    ], "read");
    for (const row of plan?.rows ?? []) {
      const step = String(row[3]);
      const isWalk = /(SCAN|SEARCH) (l|f|queued_transitions) /.test(step) &&
        !/seq=\?|entity_id=\?/.test(step);
      if (isWalk) walks.push(step);
    }
  }
  assert.deepEqual(walks, []);
  assert.equal(looked, 4);
  await driver.close();
});

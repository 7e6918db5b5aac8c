import assert from "node:assert/strict";
import fc from "fast-check";
import type { NewEvent } from "../events/event.ts";
import type { Ledger } from "../ledger.ts";
import { openLedger } from "../open_ledger.ts";
import { Projector } from "../projection/projector.ts";
import {
  at,
  orderRead,
  orderWebhook,
  session,
  webhook,
  worlds,
} from "../testing/projection_test_kit.ts";
import type { Driver } from "../store/driver/driver.ts";
import { openDriver } from "../store/connections/open_driver.ts";
import { eraseBody } from "./erase.ts";
import type { StatesVerification } from "./verify_states.ts";
import { temporaryFolder } from "../../tests/kit/temporary_folder.ts";
import { emptyLedger } from "../testing/empty_ledger.ts";
import { tries } from "../../tests/kit/thorough.ts";

const events: readonly NewEvent[] = [
  session(0, "S1", "C1"),
  orderWebhook("W1", 1, {
    type: "payment_started",
    orderId: "O1",
    session: "S1",
    click: "C1",
    user: "U1",
  }),
  orderWebhook("W2", 2, { type: "order_complete", orderId: "O1", user: "U1" }),
  orderRead(3, { orderId: "O2", status: "pending", user: "U2" }),
  webhook("W3", 4, { type: "login", user: { user_id: "U1" } }),
  orderRead(5, { orderId: "O2", status: "success", user: "U2" }),
];

async function inMemory(): Promise<Ledger> {
  return await emptyLedger();
}

async function verifyStates(
  ledger: Ledger,
  watch: (driver: Driver) => Driver = (driver) => driver,
): Promise<StatesVerification> {
  const scratch = await openDriver({ url: ":memory:", worker: false });
  try {
    return await ledger.verifyStates({ scratch: watch(scratch) });
  } finally {
    await scratch.close();
  }
}

Deno.test("Ledger.verifyStates() passes every world, whatever the steps it was folded in", async () => {
  await fc.assert(
    fc.asyncProperty(
      worlds(),
      fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 9 }),
      async (world, steps) => {
        await using ledger = await inMemory();
        const projector = new Projector({
          driver: ledger.driver,
          assets: "sandbox",
        });
        let next = 0;
        for (const step of steps) {
          await ledger.append(world.slice(next, next += step));
          await projector.step("live", step);
        }
        await ledger.append(world.slice(next));
        await ledger.project();
        const found = await verifyStates(ledger);
        assert.deepEqual(found.differences, []);
        assert.equal(found.ok, true);
      },
    ),
    { numRuns: tries(60) },
  );
});

/** What somebody changed with a database tool, and where it is to be found. */
const tampering: Record<string, readonly [string, string]> = {
  "UPDATE orders SET trust = 'confirmed' WHERE order_id = 'O1'": [
    "orders O1",
    "trust",
  ],
  "UPDATE orders SET outcome = 'not_' || outcome WHERE order_id = 'O1'": [
    "orders O1",
    "outcome",
  ],
  "UPDATE orders SET amount = 1 WHERE order_id = 'O1'": [
    "orders O1",
    "amount",
  ],
  [
    `UPDATE orders SET state = replace(state, '"history":{', '"history":{"a":[],')
      WHERE order_id = 'O1'`
  ]: ["orders O1", "state"],
  "UPDATE orders SET open = 1 - open WHERE order_id = 'O2'": [
    "orders O2",
    "open",
  ],
  "UPDATE orders SET user_id = 'U9' WHERE order_id = 'O2'": [
    "orders O2",
    "user_id",
  ],
  "UPDATE orders SET commodity = 'BTC!' WHERE order_id = 'O2'": [
    "orders O2",
    "commodity",
  ],
  "UPDATE orders SET sort_at = 2020 WHERE order_id = 'O2'": [
    "orders O2",
    "sort_at",
  ],
  "UPDATE orders SET anomalies = ' absent ' WHERE order_id = 'O2'": [
    "orders O2",
    "anomalies",
  ],
  "UPDATE orders SET activity = '{}' WHERE order_id = 'O2'": [
    "orders O2",
    "activity.",
  ],
  "UPDATE orders SET fold = fold || ' ' WHERE order_id = 'O2'": [
    "orders O2",
    "fold",
  ],
  "UPDATE orders SET state = '{}' WHERE order_id = 'O2'": [
    "orders O2",
    "state",
  ],
  "UPDATE orders SET status = CAST(x'FF' AS TEXT) WHERE order_id = 'O2'": [
    "orders O2",
    "status",
  ],
  "DELETE FROM orders WHERE order_id = 'O1'": ["orders O1", "missing"],
  "UPDATE orders SET order_id = 'O3' WHERE order_id = 'O2'": [
    "orders O2",
    "missing",
  ],
  "UPDATE users SET trust = 'confirmed' WHERE user_id = 'U1'": [
    "users U1",
    "trust",
  ],
  "UPDATE users SET status = 'banned' WHERE user_id = 'U1'": [
    "users U1",
    "status",
  ],
  "DELETE FROM expectations WHERE click_id = 'C1'": [
    "expectations 1",
    "missing",
  ],
  "DELETE FROM transitions WHERE entity_id = 'O2' AND status = 'success'": [
    "transitions order O2 order confirmed success",
    "missing",
  ],
  [
    `INSERT INTO transitions (seq, entity, entity_id, machine, trust,
        status, entry, previous, reverses, position, recorded_at, live)
      SELECT 99, entity, 'O1', machine, trust, status, entry, previous,
        reverses, position, recorded_at, live
      FROM transitions WHERE entity_id = 'O2' AND status = 'success'`
  ]: ["transitions order O1 order confirmed success", "unfounded"],
  "UPDATE transitions SET live = 0 WHERE entity_id = 'O2'": [
    "transitions order O2",
    "live",
  ],
  "UPDATE transitions SET position = 1 WHERE entity_id = 'O2'": [
    "transitions order O2",
    "position",
  ],
  [`UPDATE transitions SET previous = '["claimed","x"]' WHERE entity_id = 'O2'`]:
    [
      "transitions order O2",
      "previous",
    ],
  "UPDATE transitions SET reverses = '[\"failed\"]' WHERE entity_id = 'O2'": [
    "transitions order O2",
    "reverses",
  ],
};

for (const [sql, [row, what]] of Object.entries(tampering)) {
  Deno.test(`Ledger.verifyStates() finds: ${sql.replaceAll(/\s+/g, " ")}`, async () => {
    await using folder = await temporaryFolder();
    const url = `file:${folder.path}/ledger.db`;
    {
      await using ledger = await openLedger({
        url,
        environment: "sandbox",
        worker: false,
      });
      await ledger.append(events);
      await ledger.project();
      assert.deepEqual((await verifyStates(ledger)).differences, []);
    }
    const tool = await openDriver({ url, worker: false });
    await tool.batch([{ sql, args: [] }], "write");
    await tool.close();
    await using ledger = await openLedger({
      url,
      readOnly: true,
      worker: false,
    });
    const found = await verifyStates(ledger);
    assert.equal(found.ok, false);
    const [first] = found.differences;
    const named = `${first?.table} ${first?.key.join(" ")}`;
    assert.ok(named.startsWith(row), named);
    const told = [
      first?.kind,
      ...first?.columns.map((one) => one.field) ?? [],
    ];
    assert.ok(told.some((one) => one?.startsWith(what)), told.join());
  });
}

Deno.test("Ledger.verifyStates() pages, and names the first rows in the order of their keys", async () => {
  await using ledger = await inMemory();
  const many = Array.from(
    { length: 1203 },
    (_, n) =>
      orderWebhook(`W${n}`, n % 60, {
        type: "payment_started",
        orderId: `${n % 2 === 0 ? "\u{ffee}" : "\u{1f600}"}${n}`,
      }),
  );
  await ledger.append(many);
  await ledger.project();
  await ledger.driver.batch([
    { sql: "UPDATE orders SET trust = 'confirmed'", args: [] },
    { sql: "DELETE FROM transitions", args: [] },
  ], "write");
  let most = 0;
  const found = await verifyStates(ledger, (driver) => ({
    location: "memory",
    async batch(statements, mode) {
      const results = await driver.batch(statements, mode);
      most = Math.max(most, ...results.map(({ rows }) => rows.length));
      return results;
    },
    close: () => Promise.resolve(),
  }));
  assert.equal(found.different, 1203 + 1203);
  assert.deepEqual(found.rows, {
    orders: 1203,
    users: 0,
    expectations: 0,
    transitions: 0,
  });
  assert.equal(found.differences.length, 20);
  assert.equal(new Set(found.differences.map(({ key }) => key[0])).size, 20);
  assert.ok(most <= 500, `${most} rows at once`);
});

Deno.test("Ledger.verifyStates() is not disturbed by what others fold meanwhile", async () => {
  await using ledger = await inMemory();
  await ledger.append(events);
  await ledger.project();
  let next = 0;
  const found = await verifyStates(ledger, (driver) => ({
    location: "memory",
    async batch(statements, mode) {
      await ledger.append([
        orderWebhook(`N${next}`, 9, {
          type: "order_complete",
          orderId: `O${next++ % 5}`,
          user: "U1",
        }),
      ]);
      await ledger.project();
      return await driver.batch(statements, mode);
    },
    close: () => Promise.resolve(),
  }));
  assert.ok(next > 5);
  assert.deepEqual(found.differences, []);
  assert.ok(found.events > events.length);
});

Deno.test("Ledger.verifyStates() finds what an erased body still says, until a refold", async () => {
  await using ledger = await inMemory();
  await ledger.append(events);
  await ledger.project();
  await eraseBody(ledger.driver, 3);
  const before = await verifyStates(ledger);
  assert.deepEqual(
    before.differences.map(({ table, key }) => [table, key[0]]).slice(0, 1),
    [["orders", "O1"]],
  );
  await ledger.refold();
  const after = await verifyStates(ledger);
  assert.deepEqual(after.differences, []);
});

Deno.test("Ledger.verifyStates() passes a refolded ledger, and still finds a transition that no event leads to", async () => {
  await using ledger = await inMemory();
  await ledger.append(events);
  await ledger.project();
  await ledger.refold();
  assert.equal((await verifyStates(ledger)).ok, true);
  await ledger.driver.batch([{
    sql: `INSERT INTO transitions (seq, entity, entity_id, machine, trust,
        status, entry, previous, reverses, position, recorded_at, live)
      SELECT 99, entity, 'O1', machine, trust, status, entry, previous,
        reverses, position, recorded_at, live
      FROM transitions WHERE entity_id = 'O2' AND status = 'success'`,
    args: [],
  }], "write");
  const found = await verifyStates(ledger);
  assert.deepEqual(
    found.differences.map(({ kind, key }) => [kind, ...key]),
    [["unfounded", "order", "O1", "order", "confirmed", "success", "1"]],
  );
});

Deno.test("Ledger.verifyStates() passes a ledger that went live in the middle, and where a person had something told", async () => {
  await using ledger = await inMemory();
  const old = (orderId: string) =>
    orderRead(31, { orderId, status: "success", created: 2, changed: 3 });
  await ledger.append([old("before")]);
  await ledger.project();
  await ledger.goLive(at(30));
  await ledger.append([old("after"), old("fired")]);
  await ledger.project();
  assert.equal((await ledger.historic()).orders, 2);
  assert.deepEqual((await verifyStates(ledger)).differences, []);
  const key = "order:fired:confirmed.success";
  assert.equal(await ledger.subscriptions.fire([key]), 1);
  assert.deepEqual((await verifyStates(ledger)).differences, []);
  await ledger.driver.batch([{
    sql: "UPDATE transitions SET live = 1 WHERE entity_id = 'after'",
    args: [],
  }], "write");
  assert.equal((await verifyStates(ledger)).different, 2);
});

import assert from "node:assert/strict";
import fc from "fast-check";
import { temporaryFolder } from "../../tests/kit/temporary_folder.ts";
import { tries } from "../../tests/kit/thorough.ts";
import { eraseBody } from "../testing/erase_body.ts";
import type { NewEvent } from "../events/event.ts";
import { openLedger } from "../open_ledger.ts";
import { project } from "./project.ts";
import { emptyLedger } from "../testing/empty_ledger.ts";
import {
  at,
  orderRead,
  orderWebhook,
  session,
  webhook,
  worlds,
} from "../testing/projection_test_kit.ts";
import { verifyStates } from "./refold.ts";

const events: readonly NewEvent[] = [
  session(0, "S1", "C1"),
  orderWebhook("W1", 1, {
    ...{ type: "payment_started", orderId: "O1" },
    ...{ session: "S1", click: "C1", user: "U1" },
  }),
  orderWebhook("W2", 2, { type: "order_complete", orderId: "O1", user: "U1" }),
  orderRead(3, { orderId: "O2", status: "pending", user: "U2" }),
  webhook("W3", 4, { type: "login", user: { user_id: "U1" } }),
  orderRead(5, { orderId: "O2", status: "success", user: "U2" }),
];

Deno.test("Ledger.verifyStates() passes every world, whatever the steps it was folded in", async () => {
  await fc.assert(
    fc.asyncProperty(
      worlds(),
      fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 9 }),
      async (world, steps) => {
        await using ledger = await emptyLedger();
        const { driver } = ledger;
        let next = 0;
        for (const maxEvents of steps) {
          await ledger.append(world.slice(next, next += maxEvents));
          await project(driver, { assets: "sandbox", maxEvents });
        }
        await ledger.append(world.slice(next));
        await ledger.project();
        const { ok, differences } = await ledger.verifyStates();
        assert.deepEqual([ok, differences], [true, []]);
      },
    ),
    { numRuns: tries(60), seed: 4301 },
  );
});

/** What somebody changed with a database tool, and what is said of it. */
const tampering: Readonly<Record<string, string>> = {
  "UPDATE orders SET trust = 'confirmed' WHERE id = 'O1'":
    "orders order O1 changed trust",
  "UPDATE orders SET outcome = 'not_' || outcome WHERE id = 'O1'":
    "orders order O1 changed outcome",
  "UPDATE orders SET amount = 1 WHERE id = 'O1'":
    "orders order O1 changed amount",
  "UPDATE orders SET open = 1 - open WHERE id = 'O2'":
    "orders order O2 changed open",
  "UPDATE orders SET user_hash = 1 WHERE id = 'O2'":
    "orders order O2 changed user_hash",
  "UPDATE orders SET asset = 'BTC!' WHERE id = 'O2'":
    "orders order O2 changed asset",
  "UPDATE orders SET at = 2020 WHERE id = 'O2'": "orders order O2 changed at",
  "UPDATE orders SET release = 'yes' WHERE id = 'O2'":
    "orders order O2 changed release",
  "UPDATE orders SET anomalies = ' absent ' WHERE id = 'O2'":
    "orders order O2 changed anomalies",
  "UPDATE orders SET fold = json_set(fold, '$.seenAt', '') WHERE id = 'O2'":
    "orders order O2 changed fold",
  "UPDATE orders SET status = CAST(x'FF' AS TEXT) WHERE id = 'O2'":
    "orders order O2 changed status",
  "DELETE FROM orders WHERE id = 'O1'": "orders order O1 missing",
  "DELETE FROM users WHERE id = 'U1'": "users user U1 missing",
  "UPDATE users SET trust = 'confirmed' WHERE id = 'U1'":
    "users user U1 changed trust",
  "UPDATE users SET status = 'banned' WHERE id = 'U1'":
    "users user U1 changed status",
  "UPDATE users SET fold = json_set(fold, '$.banned', 1) WHERE id = 'U1'":
    "users user U1 changed fold",
  "DELETE FROM expected": "expected 1 missing",
  "DELETE FROM log WHERE code = 'confirmed.success'":
    "log order O2 confirmed.success missing",
  "UPDATE log SET code = 'confirmed.failed' WHERE code = 'confirmed.success'":
    "log order O2 confirmed.success missing",
  [
    `INSERT INTO log SELECT 99, (SELECT no FROM orders WHERE id = 'O1'), code,
      entry, position, flags, more FROM log WHERE code = 'confirmed.success'`
  ]: "log order O1 confirmed.success unfounded",
};

for (const [sql, said] of Object.entries(tampering)) {
  Deno.test(`Ledger.verifyStates() finds: ${sql.replaceAll(/\s+/g, " ")}`, async () => {
    await using ledger = await emptyLedger();
    await ledger.append(events);
    await ledger.project();
    assert.deepEqual((await ledger.verifyStates()).differences, []);
    await ledger.driver.batch([{ sql, args: [] }], "write");
    const { ok, differences: [first] } = await ledger.verifyStates();
    assert.equal(ok, false);
    const { table, key = [], kind, columns = [] } = first ?? {};
    const fields = columns.map(({ field }) => field);
    assert.equal([table, ...key, kind, ...fields].join(" "), said);
  });
}

Deno.test("Ledger.verifyStates() finds an order that was given another id", async () => {
  await using ledger = await emptyLedger();
  await ledger.append(events);
  await ledger.project();
  await ledger.driver.batch([
    { sql: "UPDATE orders SET id = 'O3' WHERE id = 'O2'", args: [] },
  ], "write");
  const { differences: [first] } = await ledger.verifyStates();
  assert.deepEqual([first?.kind, first?.key], ["changed", ["order", "O3"]]);
});

Deno.test("Ledger.verifyStates() reads in pages, also a ledger that may only be read", async () => {
  await using folder = await temporaryFolder();
  const url = `file:${folder.path}/ledger.db`;
  const many = Array.from(
    { length: 2403 },
    (_, n) =>
      orderWebhook(`W${n}`, n % 60, {
        type: "payment_started",
        orderId: `${n % 2 === 0 ? "\u{ffee}" : "\u{1f600}"}${n}`,
      }),
  );
  {
    await using ledger = await openLedger({ url, environment: "sandbox" });
    await ledger.append(many);
    await ledger.project();
    await ledger.driver.batch([
      { sql: "UPDATE orders SET trust = 'confirmed'", args: [] },
    ], "write");
  }
  await using ledger = await openLedger({ url, readOnly: true });
  let most = 0;
  const found = await verifyStates({
    assets: "sandbox",
    driver: {
      location: ledger.driver.location,
      async batch(statements, mode) {
        const results = await ledger.driver.batch(statements, mode);
        most = Math.max(most, ...results.map(({ rows }) => rows.length));
        return results;
      },
      close: () => Promise.resolve(),
    },
  });
  assert.deepEqual(
    [found.different, found.differences.length, found.rows],
    [2403, 20, { orders: 2403, users: 0 }],
  );
  assert.equal(new Set(found.differences.map(({ key }) => key[1])).size, 20);
  assert.ok(most <= 1000, `${most} rows at once`);
});

Deno.test("Ledger.verifyStates() is not disturbed by what others fold meanwhile", async () => {
  await using ledger = await emptyLedger();
  const { driver } = ledger;
  await ledger.append(events);
  await ledger.project();
  let next = 0;
  const found = await verifyStates({
    assets: "sandbox",
    driver: {
      location: "memory",
      async batch(statements, mode) {
        const results = await driver.batch(statements, mode);
        await ledger.append([
          orderWebhook(`N${next}`, 9, {
            ...{ type: "order_complete", orderId: `O${next++ % 5}` },
            user: "U1",
          }),
          session(9, `N${next}`, "C1"),
        ]);
        await ledger.project();
        return results;
      },
      close: () => Promise.resolve(),
    },
  });
  assert.ok(next > 5, `${next}`);
  assert.deepEqual(found.differences, []);
});

Deno.test("Ledger.verifyStates() passes a ledger of which a body was erased, and finds one that was changed, until a refold", async () => {
  await using ledger = await emptyLedger();
  await ledger.append(events);
  await ledger.project();
  await eraseBody(ledger.driver, 2);
  assert.deepEqual((await ledger.verifyStates()).differences, []);
  await ledger.driver.batch([
    { sql: "UPDATE events SET body = x'7b7d' WHERE position = 3", args: [] },
  ], "write");
  const { differences: [first] } = await ledger.verifyStates();
  assert.deepEqual([first?.table, first?.key[1]], ["orders", "O1"]);
  await ledger.refold();
  // The log is of what was told, and stays.
  assert.deepEqual((await ledger.verifyStates()).differences, []);
});

Deno.test("Ledger.verifyStates() passes a ledger that went live in the middle, and where a person had something told", async () => {
  await using ledger = await emptyLedger();
  const old = (orderId: string) =>
    orderRead(31, { orderId, status: "success", created: 2, changed: 3 });
  await ledger.append([old("before")]);
  await ledger.project();
  await ledger.goLive(at(30));
  await ledger.append([old("after"), old("fired")]);
  await ledger.project();
  assert.equal((await ledger.historic()).orders, 2);
  assert.deepEqual((await ledger.verifyStates()).differences, []);
  const key = "order:fired:confirmed.success";
  assert.equal(await ledger.subscriptions.fire([key]), 1);
  assert.deepEqual((await ledger.verifyStates()).differences, []);
});

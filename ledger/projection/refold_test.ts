import assert from "node:assert/strict";
import { readFact } from "../events/read_fact.ts";
import { LedgerError } from "../store/driver/errors.ts";
import {
  expectation,
  expectedStates,
  orderRead,
  webhook,
  worlds,
} from "../testing/projection_test_kit.ts";
import fc from "fast-check";
import { verifyStates } from "./verify_states.ts";
import { verifySeals } from "../evidence/verify.ts";
import {
  append,
  newLedger,
  projectAll,
  select,
  statesOf,
  toldBy,
} from "../testing/fold_kit.ts";
import { FOLD, type FoldCode } from "./project.ts";
import { refold } from "./refold.ts";

const TABLES = ["orders", "users", "log", "purchases"];

Deno.test("refold() by the same fold changes no row, and what is folded afterwards goes on", async () => {
  const events = fc.sample(worlds(200), { numRuns: 15, seed: 4201 }).flat();
  const all = [...new Map(events.map((one) => [one.eventId, one])).values()];
  const driver = await newLedger();
  const [past, later] = [all.slice(0, -20), all.slice(-20)];
  await append(driver, past);
  await projectAll(driver, { maxEvents: 7 });
  const rows = () =>
    Promise.all(
      TABLES.map((table) => select(driver, `SELECT * FROM ${table}`)),
    );
  const before = await rows();
  const tried = await refold({ driver, assets: "sandbox" }, { dryRun: true });
  assert.deepEqual([tried.changed, tried.swapped], [0, false]);
  const done = await refold({ driver, assets: "sandbox" });
  assert.deepEqual([done.changed, done.swapped], [0, true]);
  assert.deepEqual(await rows(), before);
  await append(driver, later);
  await projectAll(driver);
  assert.deepEqual(await statesOf(driver), expectedStates(all));
  const states = await verifyStates({ driver, assets: "sandbox" });
  assert.deepEqual([states.ok, states.different], [true, 0]);
  await driver.close();
});

async function shipped() {
  const driver = await newLedger();
  await append(driver, [
    expectation("X1", 0, { click: "C1", reference: "b1", amount: "10" }),
    orderRead(5, {
      ...{ orderId: "O1", status: "success", click: "C1", created: 2 },
      tx: "T1",
    }),
    webhook("W1", 6, { type: "login", user: { user_id: "U1" } }),
  ]);
  await projectAll(driver);
  return driver;
}

/** The same fold, but that it shows the success as a failure. */
const FAILING: FoldCode = {
  version: FOLD.version + 1,
  readFact(event) {
    const fact = readFact(event);
    return fact.kind === "order_snapshot"
      ? { ...fact, reading: { ...fact.reading, status: "cancelled" } }
      : fact;
  },
};

Deno.test("refold() by another fold shows what changes, keeps what was told, and tells nobody what it takes back", async () => {
  const driver = await shipped();
  const told = await toldBy(driver);
  const tried = await refold(
    { driver, assets: "sandbox", fold: FAILING },
    { dryRun: true },
  );
  assert.deepEqual([tried.changed, tried.swapped], [1, false]);
  assert.deepEqual(await toldBy(driver), told);
  const done = await refold({ driver, assets: "sandbox", fold: FAILING });
  assert.equal(done.changes[0]?.id, "O1");
  const [order] = await select(driver, "SELECT * FROM orders");
  assert.equal(order?.status, "cancelled");
  const [ledger] = await select(driver, "SELECT * FROM ledger");
  assert.equal(ledger?.fold_version, FAILING.version);
  assert.deepEqual((await toldBy(driver)).slice(0, told.length), told);
  assert.equal((await verifySeals(driver)).broken, null);
  // The version before neither folds nor refolds it.
  await append(driver, [webhook("W2", 9, { type: "login" })]);
  assert.equal(await projectAll(driver), 0);
  await assert.rejects(refold({ driver, assets: "sandbox" }), LedgerError);
  assert.equal(await projectAll(driver, { fold: FAILING }), 1);
  await driver.close();
});

Deno.test("a refold that was stopped goes on, and one of another version begins anew", async () => {
  const driver = await shipped();
  const stop = new AbortController();
  const parts = { driver, assets: "sandbox" as const, fold: FAILING };
  await assert.rejects(
    refold(parts, { signal: stop.signal, onProgress: () => stop.abort() }),
    { name: "AbortError" },
  );
  assert.equal((await select(driver, "SELECT * FROM orders_next")).length, 1);
  const [shown] = await select(driver, "SELECT * FROM orders");
  assert.equal(shown?.status, "success");
  const next = { version: FAILING.version + 1, readFact };
  await refold({ ...parts, fold: next });
  const [after] = await select(driver, "SELECT * FROM orders");
  assert.equal(after?.status, "success");
  await driver.close();
});

Deno.test("what is appended and folded while a refold runs is in it", async () => {
  const driver = await shipped();
  let late = [
    orderRead(20, { orderId: "O2", status: "pending" }),
    expectation("X2", 21, { click: "C9", reference: "b2", amount: "10" }),
  ];
  const parts = { driver, assets: "sandbox" as const, fold: FAILING };
  await refold(parts, {
    onProgress: () => {
      const events = late;
      late = [];
      void append(driver, events).then(() => projectAll(driver));
    },
  });
  await projectAll(driver, { fold: FAILING });
  const rows = await select(
    driver,
    "SELECT id, status FROM orders ORDER BY id",
  );
  assert.deepEqual(rows, [
    { id: "O1", status: "cancelled" },
    { id: "O2", status: "cancelled" },
  ]);
  const states = await verifyStates(parts);
  assert.deepEqual([states.ok, states.rows.orders], [true, 2]);
  await driver.close();
});

Deno.test("verifyStates() names a column that was changed in the file", async () => {
  const driver = await shipped();
  const parts = { driver, assets: "sandbox" as const };
  assert.equal((await verifyStates(parts)).ok, true);
  await driver.batch([
    { sql: "UPDATE orders SET status = 'failed'", args: [] },
    {
      sql: "UPDATE users SET fold = json_set(fold, '$.banned', 1)",
      args: [],
    },
  ], "write");
  const { ok, differences } = await verifyStates(parts);
  assert.equal(ok, false);
  assert.deepEqual(
    differences.map(({ key, columns }) => [
      ...key,
      ...columns.map(({ field }) => field),
    ]),
    [["order", "O1", "status"], ["user", "U1", "fold"]],
  );
  await driver.close();
});

import assert from "node:assert/strict";
import type { Fact } from "../events/fact.ts";
import { readFact } from "../events/read_fact.ts";
import { readTransitions } from "../reads/releases.ts";
import { LedgerError } from "../store/database.ts";
import {
  Crash,
  crashingDriver,
  expectation,
  expectedStates,
  foldVersion,
  orderRead,
  webhook,
  worlds,
} from "../testing/projection_test_kit.ts";
import { opened } from "../testing/subscription_kit.ts";
import fc from "fast-check";
import { refold, verifyStates } from "./refold.ts";
import { verifySeals } from "../evidence/evidence.ts";
import {
  append,
  newLedger,
  projectAll,
  select,
  statesOf,
  toldBy,
} from "../testing/fold_kit.ts";
import { DUE_COLUMNS } from "./rows.ts";
import { FOLD, type FoldCode } from "./project.ts";

const TABLES = ["orders", "users", "log", "purchases"];

Deno.test("refold() by the same fold changes no row, and what is folded afterwards goes on", async () => {
  const events = fc.sample(worlds(200), { numRuns: 15, seed: 4201 }).flat();
  const all = [...new Map(events.map((one) => [one.eventId, one])).values()];
  await using driver = await newLedger();
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
const FAILING = readingAs({ status: "cancelled" }, FOLD.version + 1);

/** A fold that reads something else in every answer about an order. */
function readingAs(
  other: Partial<Extract<Fact, { kind: "order_snapshot" }>["reading"]>,
  version: number,
): FoldCode {
  return foldVersion(
    version,
    (fact) =>
      fact.kind === "order_snapshot"
        ? { ...fact, reading: { ...fact.reading, ...other } }
        : fact,
  );
}

Deno.test("refold() by another fold shows what changes, keeps what was told, and tells nobody what it takes back", async () => {
  await using driver = await shipped();
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
});

Deno.test("a refold that was stopped goes on, and one of another version begins anew", async () => {
  await using driver = await shipped();
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
});

Deno.test("what is appended and folded while a refold runs is in it", async () => {
  await using driver = await shipped();
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
});

Deno.test("refold() goes on where it was killed, wherever that is, and ends the same", async () => {
  for (const when of ["before", "after"] as const) {
    let isWhole = false;
    for (let write = 1; !isWhole; write++) {
      await using driver = await shipped();
      const dying = crashingDriver(driver, write, when);
      const parts = { driver, assets: "sandbox" as const, fold: FAILING };
      try {
        await refold({ ...parts, driver: dying });
        isWhole = true;
        assert.ok(write > 4, "it died in several places");
      } catch (error) {
        assert.ok(error instanceof Crash, String(error));
      }
      await refold(parts);
      const rows = await select(driver, "SELECT id, status FROM orders");
      assert.deepEqual(rows, [{ id: "O1", status: "cancelled" }]);
      const states = await verifyStates(parts);
      assert.deepEqual(states.differences, []);
      const left = await select(
        driver,
        "SELECT name FROM sqlite_schema WHERE name GLOB '*_next' OR name GLOB '*_former'",
      );
      assert.deepEqual(left, []);
    }
  }
});

Deno.test("refold() by two processes at once ends in one set of states", async () => {
  await using driver = await shipped();
  const parts = { driver, assets: "sandbox" as const, fold: FAILING };
  const both = await Promise.all([refold(parts), refold(parts)]);
  assert.deepEqual(both.map(({ swapped }) => swapped), [true, true]);
  const rows = await select(driver, "SELECT id, status FROM orders");
  assert.deepEqual(rows, [{ id: "O1", status: "cancelled" }]);
  assert.equal((await verifyStates(parts)).ok, true);
});

Deno.test("refold() heals a ledger in which an answer dated 2099 froze an order", async () => {
  // The fold before times of the service were bounded: it believed them all.
  const believing = foldVersion(FOLD.version - 1, (fact) => {
    if (fact.kind !== "order_snapshot") return fact;
    const { reading } = fact;
    const changedAt = reading.statedChangedAt ?? reading.changedAt;
    const believed = { ...reading, changedAt, statedChangedAt: null };
    return { ...fact, reading: believed };
  });
  await using driver = await newLedger();
  const parts = { driver, assets: "sandbox" as const };
  await driver.batch([
    { sql: "UPDATE ledger SET fold_version = ?", args: [believing.version] },
  ], "write");
  await append(driver, [
    orderRead(1, {
      ...{ orderId: "O1", status: "pending", changedAt: "2099-01-01 00:00:00" },
    }),
    orderRead(9, { orderId: "O1", status: "failed", changed: 8 }),
  ]);
  await projectAll(driver, { fold: believing });
  const status = () => select(driver, "SELECT status FROM orders");
  assert.deepEqual(await status(), [{ status: "pending" }]);
  await refold(parts);
  assert.deepEqual(await status(), [{ status: "failed" }]);
});

Deno.test("refold() logs, as not live, the release of an order that a new version of the fold moves", async () => {
  await using driver = await shipped();
  const told: string[] = [];
  await using subscription = await opened(
    driver,
    ({ key }) => void told.push(key),
    { on: "order.release.*" },
  );
  await subscription.dispatch();
  const parts = { driver, assets: "sandbox" as const };
  const withoutTx = readingAs({ txId: "" }, FOLD.version + 1);
  await refold({ ...parts, fold: withoutTx });
  const [order] = await select(driver, "SELECT release FROM orders");
  assert.equal(order?.release, "wait");
  await refold({ ...parts, fold: { ...FOLD, version: FOLD.version + 2 } });
  await subscription.dispatch();
  assert.deepEqual(told, ["order:O1:release.yes"]);
  const log = await readTransitions(driver, { id: "O1" });
  assert.deepEqual(
    log.filter(({ logged }) => logged !== null)
      .map(({ key, live, reverses }) => [key, live, reverses]),
    [
      ["order:O1:release.yes", true, []],
      ["order:O1:release.wait", false, ["yes"]],
      ["order:O1:release.restored", false, []],
    ],
  );
});

Deno.test("refold() restores what was deleted from the file, and nothing is told again", async () => {
  await using driver = await shipped();
  const parts = { driver, assets: "sandbox" as const };
  // When what was restored is asked about, is another matter.
  const folded = async (table: string) =>
    (await select(driver, `SELECT * FROM ${table}`)).map((row) =>
      Object.entries(row).filter(([name]) => !DUE_COLUMNS.includes(name))
    );
  const rows = async () => [
    await folded("orders"),
    await folded("users"),
    await select(driver, "SELECT * FROM expected"),
    await select(driver, "SELECT * FROM log"),
    await select(driver, "SELECT * FROM purchases"),
  ];
  const before = await rows();
  const deletions = [
    ["DELETE FROM orders"],
    ["DELETE FROM users", "DELETE FROM expected"],
    ["DELETE FROM orders", "DELETE FROM users"],
    ["UPDATE orders SET id = 'O9'"],
  ];
  for (const deleted of deletions) {
    await driver.batch(deleted.map((sql) => ({ sql, args: [] })), "write");
    assert.equal((await verifyStates(parts)).ok, false);
    const tried = await refold(parts, { dryRun: true });
    assert.ok(tried.changed > 0 && !tried.swapped);
    await refold(parts);
    assert.deepEqual((await verifyStates(parts)).differences, []);
    assert.deepEqual(await rows(), before);
  }
  const told = await toldBy(driver);
  await append(driver, [
    orderRead(9, {
      ...{ orderId: "O1", status: "success", click: "C1", created: 2 },
      tx: "T1",
    }),
    orderRead(9, {
      ...{ orderId: "O2", status: "success", click: "C1", created: 2 },
      tx: "T2",
    }),
  ]);
  await projectAll(driver);
  assert.deepEqual((await toldBy(driver)).slice(0, told.length), told);
  const releases = await select(
    driver,
    `SELECT id, code FROM log JOIN orders USING (no)
      WHERE code GLOB 'release.*' ORDER BY seq`,
  );
  assert.deepEqual(releases, [
    { id: "O1", code: "release.yes" },
    { id: "O2", code: "release.wait" },
  ]);
});

Deno.test("refold() takes away a row that no event names", async () => {
  await using driver = await shipped();
  const parts = { driver, assets: "sandbox" as const };
  const columns = (await select(driver, "SELECT * FROM orders"))[0] ?? {};
  const others = Object.keys(columns).filter((one) =>
    one !== "no" && one !== "id"
  );
  await driver.batch([{
    sql: `INSERT INTO orders (no, id, ${others}) SELECT 40, 'O9', ${others}
      FROM orders`,
    args: [],
  }], "write");
  const { differences } = await verifyStates(parts);
  assert.deepEqual(
    differences.map(({ table, key, kind }) => [table, ...key, kind]),
    [["log", "order", "O9", "confirmed.success", "missing"], [
      ...["log", "order", "O9", "release.yes", "missing"],
    ], ["orders", "order", "O9", "unfounded"]],
  );
  await refold(parts);
  assert.deepEqual((await verifyStates(parts)).differences, []);
});

import assert from "node:assert/strict";
import { openDriver } from "../thread/open_driver.ts";
import type { Driver } from "../store/database.ts";
import { databaseKinds } from "../testing/test_databases.ts";
import {
  at,
  orderRead,
  orderWebhook,
  session,
} from "../testing/projection_test_kit.ts";
import { verifySeals } from "../evidence/evidence.ts";
import { FOLD } from "../projection/project.ts";
import { createLedger } from "../store/create.ts";
import {
  append,
  newLedger,
  projectAll,
  select,
  toldBy,
} from "../testing/fold_kit.ts";
import { exportMoved, importMoved, TABLES } from "./move.ts";

/**
 * A ledger with a subscription that has twenty transitions to send, has begun five
 * and given three up, a purchase that is taken, and an event that is not folded.
 */
async function busyLedger(): Promise<Driver> {
  const driver = await newLedger();
  await driver.batch([
    {
      sql: "UPDATE ledger SET live_from = ?",
      args: [Date.parse(at(0))],
    },
    {
      sql: `INSERT INTO subscriptions (name, patterns, created_at, seq)
        VALUES ('shop', '["order.*.*"]', 0, 0)`,
      args: [],
    },
    {
      sql:
        "INSERT INTO targets VALUES ('shop', 'http://127.0.0.1:9/', NULL, NULL)",
      args: [],
    },
  ], "write");
  await append(driver, [
    session(0, "S1", "C1", "10", "basket-1"),
    orderRead(5, {
      ...{ orderId: "PAID", status: "success", created: 2, tx: "0xT" },
      ...{ user: "U1", click: "C1" },
    }),
    ...Array.from(
      { length: 28 },
      (_, n) =>
        orderWebhook(`W${n}`, 6, { type: "payment_started", orderId: `O${n}` }),
    ),
  ]);
  await projectAll(driver);
  const [last] = await select(driver, "SELECT max(seq) AS seq FROM outbox");
  const seq = Number(last?.seq);
  await driver.batch([
    { sql: "DELETE FROM outbox WHERE seq <= ?", args: [seq - 28] },
    {
      sql: "UPDATE outbox SET state = 'begun', attempts = 1 WHERE seq > ?",
      args: [seq - 5],
    },
    {
      sql: `UPDATE outbox SET state = 'dead', attempts = 12, error = 'no'
        WHERE seq <= ?`,
      args: [seq - 25],
    },
    {
      sql:
        "INSERT INTO handed SELECT no, 'shop', 1, 'taken' FROM orders LIMIT 1",
      args: [],
    },
  ], "write");
  // The last transition was of somebody who is erased.
  await driver.batch([
    {
      sql:
        "INSERT INTO log (seq, no, code, entry, position, flags) VALUES (1000, 0, '', 1, 1, 0)",
      args: [],
    },
    { sql: "DELETE FROM log WHERE seq = 1000", args: [] },
  ], "write");
  await append(driver, [orderRead(7, { orderId: "LATE", status: "pending" })]);
  return driver;
}

async function lines(driver: Driver): Promise<string[]> {
  return await Array.fromAsync(exportMoved(driver, "sandbox"));
}

async function* given(all: readonly string[]): AsyncGenerator<string> {
  yield* all;
}

/** What is still to be sent, by state, and who holds purchases. */
async function owed(driver: Driver) {
  const outbox = await select(
    driver,
    "SELECT state, count(*) AS rows FROM outbox GROUP BY state ORDER BY state",
  );
  return {
    outbox: outbox.map(({ state, rows }) => `${rows} ${state}`),
    purchases: await select(driver, "SELECT * FROM purchases"),
    told: await toldBy(driver),
  };
}

async function empty(driver: Driver): Promise<void> {
  await createLedger(driver, {
    environment: "sandbox",
    foldVersion: FOLD.version,
    now: () => Date.parse(at(0)),
    randomBytes: (length) => new Uint8Array(length).fill(9),
  });
}

const OWED = ["5 begun", "3 dead", "20 due"];

for (const { name, available, create } of databaseKinds) {
  Deno.test({
    name:
      `a ledger moves to ${name} and back: nothing is lost, and nothing is owed twice`,
    ignore: !available,
    fn: async () => {
      await using from = disposable(await busyLedger());
      const before = await owed(from);
      assert.deepEqual(before.outbox, OWED);
      assert.equal(before.purchases.length, 1);
      const all = await lines(from);
      await using database = await create();
      const server = await database.open();
      await empty(server);
      const moved = await importMoved(server, "sandbox", given(all));
      assert.equal(moved, 31);
      const there = await lines(server);
      assert.deepEqual(there, all);
      await using back = disposable(await newLedger());
      assert.deepEqual(
        await importMoved(back, "sandbox", given(there)),
        moved,
      );
      assert.deepEqual(await lines(back), all);
      assert.deepEqual(await owed(back), before);
      // What waited to be folded is news there too.
      assert.equal(await projectAll(back), 1);
      const [next] = await select(back, "SELECT max(seq) AS seq FROM log");
      assert.ok(Number(next?.seq) > 1000);
      assert.equal(await projectAll(from), 1);
      assert.deepEqual(await owed(back), await owed(from));
      assert.equal((await verifySeals(back)).broken, null);
    },
  });
}

Deno.test("importMoved() goes into an empty ledger alone, and begins anew where it was stopped", async () => {
  await using from = disposable(await busyLedger());
  const all = await lines(from);
  await using to = disposable(await newLedger());
  await assert.rejects(
    importMoved(to, "sandbox", given(all.slice(0, 4))),
    /the file is cut after line 4; import a whole one, which begins anew/,
  );
  assert.equal(await projectAll(to), 0, "half a ledger folds nothing");
  await importMoved(to, "sandbox", given(all));
  assert.deepEqual(await lines(to), all);
  await assert.rejects(
    importMoved(to, "sandbox", given(all)),
    /Cannot move a ledger in here: this one holds something already/,
  );
  await using other = disposable(
    await openDriver({ url: ":memory:", worker: false }),
  );
  await empty(other);
  const [header = "", ...rest] = all;
  for (
    const [change, message] of [
      [
        { environment: "production" },
        /"production", and this one to "sandbox"/,
      ],
      [{ schema: 99 }, /has schema 99, and this version/],
      [{ rampkit: "events" }, /not the header that `ledger export --move`/],
      [{ lastSeq: null }, /not the header that `ledger export --move`/],
    ] as const
  ) {
    const wrong = JSON.stringify({ ...JSON.parse(header), ...change });
    await assert.rejects(
      importMoved(other, "sandbox", given([wrong, ...rest])),
      message,
    );
  }
  const fewer = rest.filter((line) => !line.includes('"table":"handed"'));
  await assert.rejects(
    importMoved(other, "sandbox", given([header, ...fewer])),
    /it has 0 rows of handed, and the file 1; run this again/,
  );
});

Deno.test("every table of a ledger is moved but its own row and what running processes note", async () => {
  await using driver = disposable(await newLedger());
  const tables = await select(
    driver,
    `SELECT name FROM sqlite_schema WHERE type = 'table'
      AND name NOT LIKE 'sqlite%' AND name NOT IN ('ledger', 'leases', 'waiting')`,
  );
  assert.deepEqual(
    tables.map(({ name }) => name).sort(),
    [...TABLES.keys()].sort(),
  );
});

Deno.test("exportMoved() leaves out no role of an order that has two in one purchase", async () => {
  await using driver = disposable(await newLedger());
  // The first page ends between what it took itself and what a person delivered.
  await driver.batch([{
    sql: `WITH RECURSIVE n(at) AS
        (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at < 800)
      INSERT INTO purchases
        SELECT unhex(printf('%08x', (at + 1) / 2)), 2, 1 + (at + 1) % 2, 0
        FROM n WHERE at > 1`,
    args: [],
  }], "write");
  const moved = (await lines(driver)).map((line) => JSON.parse(line))
    .filter(({ table }) => table === "purchases")
    .flatMap(({ rows }) => rows);
  assert.equal(moved.length, 799);
});

Deno.test("exportMoved() and importMoved() refuse while something works on the ledger", async () => {
  await using from = disposable(await busyLedger());
  const all = await lines(from);
  await using to = disposable(await newLedger());
  for (const driver of [from, to]) {
    await driver.batch([{
      sql: `INSERT INTO leases VALUES ('poller', 'another', 1,
        CAST(unixepoch('subsec') * 1000 AS INTEGER) + 30000, 30000, NULL)`,
      args: [],
    }], "write");
  }
  const refusal = /it is in use; stop every serve/;
  await assert.rejects(lines(from), refusal);
  await assert.rejects(importMoved(to, "sandbox", given(all)), refusal);
});

Deno.test("exportMoved() leaves out no event that comes while it writes", async () => {
  await using from = disposable(await busyLedger());
  const late = orderRead(8, { orderId: "LATER", status: "pending" });
  await assert.rejects(async () => {
    for await (const line of exportMoved(from, "sandbox")) {
      // The events are written by then, and nobody folds.
      if (line.includes('"table":"seals"')) await append(from, [late]);
    }
  }, /it is in use; stop every serve/);
});

function disposable(driver: Driver): Driver & AsyncDisposable {
  const close = () => driver.close();
  return Object.assign(driver, { [Symbol.asyncDispose]: close });
}

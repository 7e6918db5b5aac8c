import assert from "node:assert/strict";
import fc from "fast-check";
import { ulid } from "ulid";
import { openDriver } from "../store/connections/open_driver.ts";
import type { Driver } from "../store/driver/driver.ts";
import { openLedger } from "../open_ledger.ts";
import { readStamp } from "../store/stamp.ts";
import { readCopiedTables } from "../store/copied_rows.ts";
import { emptyStore, rowsOf, worlds } from "../testing/projection_test_kit.ts";
import { testEachDatabase } from "../testing/test_databases.ts";
import { testEvents } from "../testing/test_events.ts";
import { copyLedger, type CopyOptions } from "./copy_ledger.ts";

const few: CopyOptions = { rangeRows: 7 };

/** All rows of all tables, and the stamp. */
async function everything(driver: Driver): Promise<Record<string, unknown>> {
  const model = await emptyStore();
  const tables = await readCopiedTables(model);
  await model.close();
  const all: Record<string, unknown> = {};
  for (const { name, columns, key } of tables) {
    all[name] = await rowsOf(
      driver,
      `SELECT ${columns.join(", ")} FROM ${name} ORDER BY ${key.join(", ")}`,
    );
  }
  all.stamp = await rowsOf(driver, "SELECT * FROM rampkit");
  all.schema = await rowsOf(
    driver,
    "SELECT type, name, tbl_name FROM sqlite_schema " +
      "WHERE name NOT GLOB 'libsql_*' ORDER BY type, name",
  );
  return all;
}

const inMemory = () => openDriver({ url: ":memory:", worker: false });

async function ledgerInMemory() {
  return await openLedger({
    url: ":memory:",
    environment: "sandbox",
    worker: false,
  });
}

testEachDatabase(
  "copyLedger() makes the same ledger in any database, with the same tables",
  async (database, { name }) => {
    await using ledger = await ledgerInMemory();
    await ledger.append(testEvents(40));
    await ledger.project();
    await using _goods = await ledger.subscribe("goods", {
      on: "order.*.*",
      from: "start",
      start: false,
    }, () => {});
    const before = await everything(ledger.driver);
    const target = await database.open();
    const copied = await copyLedger(ledger.driver, target, {
      ...few,
      finish: true,
    });
    assert.equal(copied.finished, true);
    assert.equal(copied.written, copied.rows);
    assert.equal(copied.events, 40);
    assert.deepEqual(await everything(target), before, name);
  },
);

Deno.test("copyLedger() run again while the ledger is in use copies what changed, was added and was deleted", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(worlds(12), { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 9 }),
      async (parts, rangeRows) => {
        await using ledger = await ledgerInMemory();
        const target = await inMemory();
        for (const [at, events] of parts.entries()) {
          const fresh = events.map((event) => ({
            ...event,
            eventId: `${at}-${event.eventId}`,
          }));
          await ledger.append(fresh);
          await ledger.project();
          await ledger.driver.batch([{
            sql: "DELETE FROM requests WHERE seq % 3 = ?",
            args: [at % 3],
          }], "write");
          await copyLedger(ledger.driver, target, { rangeRows });
        }
        const last = await copyLedger(ledger.driver, target, {
          rangeRows,
          finish: true,
        });
        assert.equal(last.written, 0, "the last copy was already whole");
        assert.deepEqual(
          await everything(target),
          await everything(ledger.driver),
        );
        await target.close();
      },
    ),
    { numRuns: 8 },
  );
});

Deno.test("copyLedger() that fails at any write is gone on with by the next", async () => {
  await using ledger = await ledgerInMemory();
  await ledger.append(testEvents(30));
  await ledger.project();
  const expected = await everything(ledger.driver);
  const counted = await inMemory();
  let writes = 0;
  await copyLedger(ledger.driver, {
    location: "memory",
    batch: (statements, mode) => {
      writes++;
      return counted.batch(statements, mode);
    },
    close: () => counted.close(),
  }, { ...few, finish: true });
  await counted.close();
  for (let failing = 1; failing < writes; failing += 13) {
    for (const done of [true, false]) {
      const target = await inMemory();
      let left = failing;
      const broken: Driver = {
        location: "memory",
        async batch(statements, mode) {
          if (--left > 0) return await target.batch(statements, mode);
          if (done) await target.batch(statements, mode);
          throw new Error("The connection broke");
        },
        close: () => target.close(),
      };
      await assert.rejects(
        copyLedger(ledger.driver, broken, { ...few, finish: true }),
        /The connection broke/,
      );
      // Nobody takes it for a ledger meanwhile.
      const begun = await rowsOf(target, "SELECT 1 FROM sqlite_schema");
      if (begun.length > 0) {
        await assert.rejects(readStamp(target), /copy .* is not finished/);
      }
      await copyLedger(ledger.driver, target, { ...few, finish: true });
      assert.deepEqual(await everything(target), expected, `write ${failing}`);
      await target.close();
    }
  }
});

Deno.test("copyLedger() removes what a run that was killed has written and not noted", async () => {
  await using ledger = await ledgerInMemory();
  await ledger.append(testEvents(3));
  const target = await inMemory();
  await copyLedger(ledger.driver, target);
  // The ledger has lost the row since, or no run has noted it.
  await target.batch([{
    sql: "INSERT INTO sweeps (name, state, updated_at) VALUES ('z', '{}', '')",
    args: [],
  }], "write");
  await copyLedger(ledger.driver, target, { finish: true });
  assert.deepEqual(await everything(target), await everything(ledger.driver));
  await target.close();
});

Deno.test("copyLedger() takes rows that are larger than a range", async () => {
  await using ledger = await ledgerInMemory();
  for (let n = 0; n < 5; n++) {
    await ledger.appendDelivery({
      id: ulid(),
      receivedAt: "2026-11-20T12:00:00.000Z",
      body: crypto.getRandomValues(new Uint8Array(1 << 16)),
    });
  }
  const target = await inMemory();
  await copyLedger(ledger.driver, target, { finish: true });
  assert.deepEqual(await everything(target), await everything(ledger.driver));
  await target.close();
});

Deno.test("copyLedger() copies a table anew in which a row moved to another key", async () => {
  await using ledger = await ledgerInMemory();
  await ledger.append(testEvents(20));
  await ledger.project();
  const target = await inMemory();
  await copyLedger(ledger.driver, target, few);
  // The target holds the old row under its old key, which comes later.
  await ledger.driver.batch([{
    sql: "UPDATE requests SET seq = -seq",
    args: [],
  }], "write");
  await copyLedger(ledger.driver, target, { ...few, finish: true });
  assert.deepEqual(await everything(target), await everything(ledger.driver));
  await target.close();
});

Deno.test("copyLedger() refuses a target with something in it, and a ledger in use, and says why", async () => {
  await using ledger = await ledgerInMemory();
  await using other = await ledgerInMemory();
  await ledger.append(testEvents(3));
  const refused = async (target: Driver, message: RegExp, o?: CopyOptions) => {
    const before = await rowsOf(target, "SELECT name FROM sqlite_schema");
    await assert.rejects(copyLedger(ledger.driver, target, o), message);
    assert.deepEqual(
      await rowsOf(target, "SELECT name FROM sqlite_schema"),
      before,
    );
  };
  await refused(other.driver, /holds a ledger already/);
  await refused(ledger.driver, /holds a ledger already/);
  const foreign = await inMemory();
  await foreign.batch([{ sql: "CREATE TABLE shop (id)", args: [] }], "write");
  await refused(foreign, /another program \(it has the table "shop"\)/);
  const begun = await inMemory();
  await copyLedger(other.driver, begun);
  await refused(begun, /an unfinished copy of another ledger, [0-9a-f]{32}/);
  const target = await inMemory();
  await copyLedger(ledger.driver, target);
  await target.batch([{
    sql: "UPDATE unfinished_copy SET schema_version = 0",
    args: [],
  }], "write");
  await refused(target, /begun with schema 0, and the ledger has \d+ now/);
  await target.batch([{
    sql: "UPDATE unfinished_copy SET schema_version = ?",
    args: [
      (await rowsOf(ledger.driver, "SELECT schema_version FROM rampkit"))
        .flat()[0] as number,
    ],
  }], "write");
  await using goods = await ledger.subscribe(
    "goods",
    { on: "order.*.*" },
    () => {},
  );
  await goods.dispatch();
  await refused(target, /the ledger is in use; stop every serve/, {
    finish: true,
  });
  for (const driver of [foreign, begun, target]) await driver.close();
});

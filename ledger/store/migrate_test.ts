import assert from "node:assert/strict";
import type { Driver } from "./driver/driver.ts";
import { LedgerError, type LedgerErrorCode } from "./driver/errors.ts";
import { EventLog } from "./event_log.ts";
import { migrate, type Migration, readStamp } from "./migrate.ts";
import { openDriver } from "./connections/open_driver.ts";
import { eventsSchema } from "./tables/events/events.ts";
import { testEachDatabase } from "../testing/test_databases.ts";
import { testEvent } from "../testing/test_events.ts";

const first: Migration = { version: 1, statements: eventsSchema };
const second: Migration = {
  version: 2,
  statements: [
    "CREATE TABLE extra (id INTEGER PRIMARY KEY, note TEXT) STRICT",
    "INSERT INTO extra (note) SELECT event_id FROM events",
  ],
};
const third: Migration = {
  version: 3,
  statements: ["ALTER TABLE extra ADD COLUMN more TEXT"],
};

function run(
  driver: Driver,
  migrations: readonly Migration[],
  environment: string = "sandbox",
) {
  return migrate(driver, {
    migrations,
    environment,
    now: () => Date.parse("2026-01-01T00:00:00Z"),
    randomBytes: (size) => new Uint8Array(size).fill(0xab),
  });
}

function failsWith(code: LedgerErrorCode, words: RegExp) {
  return (error: unknown) => {
    assert.ok(error instanceof LedgerError, String(error));
    assert.equal(error.code, code, error.message);
    assert.match(error.message, words);
    return true;
  };
}

async function inMemory(
  test: (driver: Driver) => Promise<void>,
): Promise<void> {
  const driver = await openDriver({ url: ":memory:", worker: false });
  try {
    await test(driver);
  } finally {
    await driver.close();
  }
}

testEachDatabase("migrate() stamps a new ledger once", async (database) => {
  const driver = await database.open();
  assert.equal(await readStamp(driver), null);
  const stamp = await run(driver, [first]);
  assert.deepEqual(stamp, {
    schemaVersion: 1,
    environment: "sandbox",
    ledgerId: "ab".repeat(16),
    createdAt: "2026-01-01T00:00:00.000Z",
  });
  const again = await migrate(driver, {
    migrations: [first],
    environment: "sandbox",
    now: Date.now,
  });
  assert.deepEqual(again, stamp);
});

testEachDatabase(
  "migrate() by many at once takes each step once",
  async (database, kind) => {
    const drivers = [await database.open()];
    while (kind.shared && drivers.length < 4) {
      drivers.push(await database.open());
    }
    const stamps = await Promise.all(
      drivers.map((driver) => run(driver, [first, second, third])),
    );
    for (const stamp of stamps) assert.equal(stamp.schemaVersion, 3);
    assert.equal(new Set(stamps.map(({ ledgerId }) => ledgerId)).size, 1);
  },
);

testEachDatabase(
  "migrate() brings an older ledger up to date, events and all",
  async (database) => {
    const driver = await database.open();
    const before = await run(driver, [first]);
    await new EventLog(driver).append([testEvent(1), testEvent(2)]);
    const after = await run(driver, [first, second, third]);
    assert.deepEqual(after, { ...before, schemaVersion: 3 });
    const [rows] = await driver.batch([{
      sql: "SELECT note, more FROM extra ORDER BY id",
      args: [],
    }], "write");
    assert.deepEqual(rows?.rows, [
      [testEvent(1).eventId, null],
      [testEvent(2).eventId, null],
    ]);
  },
);

Deno.test("migrate() that fails in the middle of a step leaves the step before", () =>
  inMemory(async (driver) => {
    const broken: Migration = {
      version: 2,
      statements: ["CREATE TABLE half (id INTEGER)", "NOT SQL"],
    };
    await assert.rejects(
      run(driver, [first, broken]),
      failsWith("failed", /NOT SQL/),
    );
    assert.equal((await readStamp(driver))?.schemaVersion, 1);
    assert.equal((await run(driver, [first, second])).schemaVersion, 2);
  }));

Deno.test("migrate() refuses a ledger of a newer version", () =>
  inMemory(async (driver) => {
    await run(driver, [first, second]);
    await assert.rejects(
      run(driver, [first]),
      failsWith("newer_schema", /schema is 2, this version knows 1/),
    );
  }));

Deno.test("migrate() refuses a ledger of another environment", () =>
  inMemory(async (driver) => {
    await run(driver, [first], "production");
    await assert.rejects(
      run(driver, [first, second]),
      failsWith("wrong_environment", /"production", not to "sandbox"/),
    );
    assert.equal((await readStamp(driver))?.schemaVersion, 1);
  }));

Deno.test("migrate() refuses a database of another program", () =>
  inMemory(async (driver) => {
    await driver.batch(
      [{ sql: "CREATE TABLE customers (id INTEGER)", args: [] }],
      "write",
    );
    await assert.rejects(
      run(driver, [first]),
      failsWith("not_a_ledger", /"customers"/),
    );
  }));

Deno.test("migrate() refuses steps that do not count up by one", () =>
  inMemory(async (driver) => {
    await assert.rejects(run(driver, [first, third]), TypeError);
  }));

Deno.test("migrate() waits until a replica has the tables that its primary has made", () =>
  inMemory((primary) =>
    inMemory(async (empty) => {
      let reads = 0;
      const replica: Driver = {
        location: "remote",
        batch: (statements, mode) => {
          // The first reads of all come from before the ledger was made.
          const isBehind = mode === "read" && ++reads <= 4;
          return (isBehind ? empty : primary).batch(statements, mode);
        },
        close: () => Promise.resolve(),
      };
      await run(replica, [first, second]);
      assert.equal((await readStamp(replica))?.schemaVersion, 2);
      const before = reads;
      await run(replica, [first, second]);
      assert.ok(reads - before <= 2, "it looks once where nothing was made");
    })
  ));

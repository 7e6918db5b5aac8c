import assert from "node:assert/strict";
import { Crash, crashingDriver } from "../testing/projection_test_kit.ts";
import { testEachDatabase } from "../testing/test_databases.ts";
import { openDriver } from "../thread/open_driver.ts";
import type { Driver } from "./database.ts";
import { SCHEMA_VERSION } from "./schema.ts";
import { createLedger, readStamp } from "./create.ts";

function make(driver: Driver, environment: string = "sandbox") {
  return createLedger(driver, {
    environment,
    now: () => Date.parse("2026-01-01T00:00:00Z"),
    randomBytes: (length) => new Uint8Array(length).fill(0xab),
    foldVersion: 1,
  });
}

/** Another process that opens the ledger. */
const newcomer = {
  environment: "sandbox",
  foldVersion: 1,
  now: Date.now,
  randomBytes: (length: number) =>
    crypto.getRandomValues(new Uint8Array(length)),
};

async function run(driver: Driver, sql: string) {
  const [result] = await driver.batch([{ sql, args: [] }], "write");
  return result?.rows;
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

testEachDatabase(
  "createLedger() stamps a new ledger once",
  async (database) => {
    const driver = await database.open();
    assert.equal(await readStamp(driver), null);
    const stamp = await make(driver);
    assert.deepEqual(stamp, {
      environment: "sandbox",
      ledgerId: "ab".repeat(16),
      isWhole: true,
    });
    const again = await createLedger(driver, newcomer);
    assert.deepEqual(again, stamp);
  },
);

testEachDatabase(
  "createLedger() by many at once makes one ledger",
  async (database, kind) => {
    const drivers = [await database.open()];
    while (kind.shared && drivers.length < 4) {
      drivers.push(await database.open());
    }
    const stamps = await Promise.all(
      drivers.map((driver) => createLedger(driver, newcomer)),
    );
    assert.equal(new Set(stamps.map(({ ledgerId }) => ledgerId)).size, 1);
    for (const driver of drivers) {
      assert.deepEqual(await run(driver, "SELECT count(*) FROM events"), [[0]]);
    }
  },
);

Deno.test("createLedger() that is cut off leaves an empty database or a whole ledger", () =>
  inMemory(async (driver) => {
    await assert.rejects(make(crashingDriver(driver, 1, "before")), Crash);
    assert.equal(await readStamp(driver), null);
    await assert.rejects(make(crashingDriver(driver, 1, "after")), Crash);
    assert.deepEqual(await run(driver, "SELECT count(*) FROM events"), [[0]]);
    assert.equal((await make(driver)).isWhole, true);
  }));

for (const version of [0, SCHEMA_VERSION - 1, SCHEMA_VERSION + 1]) {
  Deno.test(`a ledger of schema ${version} is refused, with what to do, for writing and for reading`, () =>
    inMemory(async (driver) => {
      await make(driver);
      await run(driver, `UPDATE ledger SET schema = ${version}`);
      const refusal = {
        code: "other_schema",
        message: new RegExp(
          `its schema is ${version}, and this version of Rampkit uses ` +
            `${SCHEMA_VERSION}; nothing was written. Run \`ledger export\` with`,
        ),
      };
      await assert.rejects(make(driver), refusal);
      await assert.rejects(make(driver, "production"), refusal);
      const reading = { ...newcomer, readOnly: true };
      await assert.rejects(createLedger(driver, reading), refusal);
      const [[stored] = []] = await run(driver, "SELECT schema FROM ledger") ??
        [];
      assert.equal(stored, version);
    }));
}

Deno.test("createLedger() refuses a ledger of another environment", () =>
  inMemory(async (driver) => {
    await make(driver, "production");
    await assert.rejects(make(driver), {
      code: "wrong_environment",
      message: /"production", not to "sandbox"/,
    });
  }));

Deno.test("createLedger() refuses a database of another program", () =>
  inMemory(async (driver) => {
    await run(driver, "CREATE TABLE customers (id INTEGER)");
    await assert.rejects(make(driver), {
      code: "not_a_ledger",
      message: /"customers"/,
    });
  }));

Deno.test("createLedger() waits until a replica has the tables that its primary has made", () =>
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
      await make(replica);
      assert.notEqual(await readStamp(replica), null);
      const before = reads;
      await make(replica);
      assert.ok(reads - before <= 2, "it looks once where nothing was made");
    })
  ));

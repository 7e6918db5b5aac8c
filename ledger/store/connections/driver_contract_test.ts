import { temporaryFolder } from "../../../tests/kit/temporary_folder.ts";
import assert from "node:assert/strict";
import { digestOfBytes } from "../../events/record.ts";
import {
  type Driver,
  expectRow,
  LedgerError,
  type SqlValue,
  type Statement,
} from "../database.ts";
import { failsWith } from "../../testing/fails_with.ts";
import { testEachDatabase } from "../../testing/test_databases.ts";

const counter = "CREATE TABLE counter " +
  "(id INTEGER PRIMARY KEY, value INTEGER NOT NULL) STRICT";

/** Reads in a write batch, which never sees a replica's earlier state. */
async function rows(
  driver: Driver,
  sql: string,
  ...args: SqlValue[]
): Promise<readonly (readonly SqlValue[])[]> {
  const [result] = await driver.batch([{ sql, args }], "write");
  return result?.rows ?? [];
}

async function write(driver: Driver, ...statements: string[]): Promise<void> {
  await driver.batch(statements.map((sql) => ({ sql, args: [] })), "write");
}

/** Long values as text, because a failed comparison prints both in full. */
function shown(value: SqlValue | undefined): unknown {
  return value instanceof Uint8Array && value.byteLength > 1000
    ? `${value.byteLength} bytes ${digestOfBytes(value)}`
    : value;
}

testEachDatabase("batch() gives back every kind of value", async (database) => {
  const driver = await database.open();
  await write(driver, "CREATE TABLE t (id INTEGER PRIMARY KEY, v ANY) STRICT");
  const allBytes = Uint8Array.from({ length: 256 }, (_, at) => at);
  const values: SqlValue[] = [
    null,
    "",
    "text with é, 漢 and 🦕",
    0,
    -1,
    Number.MAX_SAFE_INTEGER,
    Number.MIN_SAFE_INTEGER,
    1.5,
    new Uint8Array(),
    allBytes,
    new Uint8Array(1 << 20).fill(65),
  ];
  await driver.batch(
    values.map((value, id) => ({
      sql: "INSERT INTO t VALUES (?, ?)",
      args: [id, value],
    })),
    "write",
  );
  const back = await rows(driver, "SELECT v FROM t ORDER BY id");
  assert.deepEqual(
    back.map(([value]) => shown(value)),
    values.map(shown),
  );
  assert.deepEqual(
    await rows(driver, "SELECT typeof(?), typeof(?), typeof(?)", 1, 1.5, ""),
    [["integer", "real", "text"]],
  );
});

testEachDatabase("batch() names columns and counts rows", async (database) => {
  const driver = await database.open();
  const results = await driver.batch([
    { sql: counter, args: [] },
    { sql: "INSERT INTO counter VALUES (1, 0), (2, 0)", args: [] },
    { sql: "UPDATE counter SET value = ? WHERE id > ?", args: [7, 0] },
    { sql: "SELECT id AS a, value AS a FROM counter ORDER BY id", args: [] },
    { sql: "SELECT id FROM counter WHERE id > 9", args: [] },
    { sql: "DELETE FROM counter WHERE id = 2", args: [] },
  ], "write");
  assert.deepEqual(results.map((result) => result.rowsAffected), [
    results[0]?.rowsAffected,
    2,
    2,
    0,
    0,
    1,
  ]);
  assert.deepEqual(results[3], {
    columns: ["a", "a"],
    rows: [[1, 7], [2, 7]],
    rowsAffected: 0,
  });
  assert.deepEqual(results[4]?.rows, []);
});

testEachDatabase("batch() stores all or nothing", async (database) => {
  const driver = await database.open();
  await write(driver, counter, "INSERT INTO counter VALUES (1, 0)");
  const poisons = {
    "INSERT INTO counter VALUES (2, NULL)": "constraint",
    "INSERT INTO counter VALUES (1, 1)": "constraint",
    "INSERT INTO counter VALUES (2, 'text')": "constraint",
    "INSERT INTO missing VALUES (1)": "failed",
    "NOT SQL": "failed",
  } as const;
  for (const [poison, code] of Object.entries(poisons)) {
    await assert.rejects(
      write(driver, "UPDATE counter SET value = value + 1", poison),
      failsWith(code),
    );
    assert.deepEqual(await rows(driver, "SELECT * FROM counter"), [[1, 0]]);
  }
  await write(driver, "UPDATE counter SET value = value + 1");
  assert.deepEqual(await rows(driver, "SELECT * FROM counter"), [[1, 1]]);
});

testEachDatabase(
  "batch() writes nothing and fails with conflict when an expected row has changed",
  async (database) => {
    const driver = await database.open();
    await write(driver, counter, "INSERT INTO counter VALUES (1, 0)");
    const step = (...expected: Statement[]) =>
      driver.batch([
        ...expected,
        { sql: "UPDATE counter SET value = value + 1", args: [] },
        { sql: "INSERT INTO counter VALUES (NULL, 5)", args: [] },
      ], "write");
    const changed: Statement[][] = [
      [expectRow("counter", { id: 1, value: 3 })],
      [expectRow("counter", { id: 2, value: 0 })],
      [
        expectRow("counter", { id: 1 }),
        expectRow("counter", { id: 1, value: 3 }),
      ],
    ];
    for (const expected of changed) {
      await assert.rejects(step(...expected), failsWith("conflict"));
      assert.deepEqual(await rows(driver, "SELECT * FROM counter"), [[1, 0]]);
    }
  },
);

testEachDatabase(
  "batch() goes on when each expected row is as it was read",
  async (database) => {
    const driver = await database.open();
    await write(driver, counter, "INSERT INTO counter VALUES (1, 0)");
    const expected = [
      expectRow("counter", { id: 1, value: 0 }),
    ];
    const step = [{ sql: "UPDATE counter SET value = value + 1", args: [] }];
    const results = await driver.batch([...expected, ...step], "write");
    assert.deepEqual(results.map(({ rowsAffected }) => rowsAffected), [0, 1]);
    assert.deepEqual(await rows(driver, "SELECT * FROM counter"), [[1, 1]]);
    await assert.rejects(
      driver.batch([...expected, ...step], "write"),
      failsWith("conflict"),
    );
  },
);

testEachDatabase(
  "batch() tells a refused row from an expectation that did not hold",
  async (database) => {
    const driver = await database.open();
    await write(driver, counter, "INSERT INTO counter VALUES (1, 0)");
    await assert.rejects(
      driver.batch([
        expectRow("counter", { id: 1, value: 0 }),
        { sql: "INSERT INTO counter VALUES (2, NULL)", args: [] },
      ], "write"),
      failsWith("constraint"),
    );
  },
);

testEachDatabase(
  "batch() lets one of many writers win that expect the same row",
  async (database, kind) => {
    const first = await database.open();
    const second = kind.shared ? await database.open() : first;
    await write(first, counter, "INSERT INTO counter VALUES (1, 0)");
    const writers = Array.from(
      { length: 10 },
      (_, at) =>
        (at % 2 ? first : second).batch([
          expectRow("counter", { id: 1, value: 0 }),
          { sql: "UPDATE counter SET value = value + 1", args: [] },
        ], "write"),
    );
    const lost = (await Promise.allSettled(writers))
      .filter((outcome) => outcome.status === "rejected");
    assert.equal(lost.length, 9);
    for (const { reason } of lost) failsWith("conflict")(reason);
    assert.deepEqual(await rows(second, "SELECT value FROM counter"), [[1]]);
  },
);

testEachDatabase(
  "batch() of two clients at once loses no step",
  async (database, kind) => {
    const first = await database.open();
    const second = kind.shared ? await database.open() : first;
    await write(first, counter, "INSERT INTO counter VALUES (1, 0)");
    const step = (driver: Driver) =>
      write(driver, "UPDATE counter SET value = value + 1 WHERE id = 1");
    await Promise.all(
      Array.from({ length: 20 }, (_, at) => step(at % 2 ? first : second)),
    );
    assert.deepEqual(await rows(second, "SELECT value FROM counter"), [[20]]);
  },
);

testEachDatabase(
  "batch() for reading gives one moment",
  async (database) => {
    const driver = await database.open();
    await write(driver, counter, "INSERT INTO counter VALUES (1, 0)");
    const writing = Array.from(
      { length: 20 },
      () => write(driver, "UPDATE counter SET value = value + 1"),
    );
    for (let at = 0; at < 10; at++) {
      const sql = "SELECT value FROM counter";
      // A replica that has just begun may not know the table yet.
      const results = await driver.batch(
        [{ sql, args: [] }, { sql, args: [] }],
        "read",
      ).catch((error) => failsWith("failed")(error) ? [] : []);
      assert.deepEqual(results[0], results[1]);
    }
    await Promise.all(writing);
  },
);

testEachDatabase(
  "batch() for reading answers queries of each form, and refuses each change",
  async (database) => {
    const driver = await database.open();
    await write(driver, counter, "INSERT INTO counter VALUES (1, 0)");
    const read = async (sql: string) =>
      (await driver.batch([{ sql, args: [] }], "read"))[0]?.rows;
    const one = "WITH one(id) AS (SELECT 1)";
    const changes = [
      "INSERT INTO counter VALUES (2, 0)",
      "DELETE FROM counter",
      `${one} INSERT INTO counter SELECT id + 1, 0 FROM one`,
      `${one} UPDATE counter SET value = 9 WHERE id IN (SELECT id FROM one)`,
      `${one} delete from counter WHERE id IN (SELECT id FROM one)`,
    ];
    for (const sql of changes) {
      await assert.rejects(read(sql), LedgerError, sql);
      assert.deepEqual(await rows(driver, "SELECT * FROM counter"), [[1, 0]]);
      assert.deepEqual(await rows(driver, `${one} SELECT id FROM one`), [[1]]);
    }
    const queries = [
      `${one} SELECT id FROM one`,
      "SELECT replace('2', 2, 1)+0",
    ];
    for (const sql of queries) assert.deepEqual(await read(sql), [[1]], sql);
  },
);

testEachDatabase("close() ends it for good", async (database) => {
  const driver = await database.open();
  await driver.close();
  await driver.close();
  await assert.rejects(rows(driver, "SELECT 1"), failsWith("closed"));
});

testEachDatabase(
  "vacuum() writes all rows anew, as they were, and leaves nothing of those that were deleted",
  async (database, { name }) => {
    const driver = await database.open();
    if (driver.vacuum === undefined) return;
    await write(
      driver,
      "CREATE TABLE r (a ANY, b BLOB, c TEXT AS (b || 'x')) STRICT",
      "CREATE TABLE k (a TEXT PRIMARY KEY, b REAL) STRICT, WITHOUT ROWID",
      "CREATE TABLE p (id INTEGER PRIMARY KEY AUTOINCREMENT, a TEXT UNIQUE)",
      "CREATE INDEX pa ON p (a, id)",
      "INSERT INTO r (rowid, a, b) VALUES (7, '12', x'00ff'), (3, 12, NULL), " +
        "(9, 1.5, x''), (-4, 'secret', NULL)",
      "INSERT INTO k VALUES ('b', 1), ('a', 2.5), ('secret', 3)",
      "WITH n AS (SELECT value FROM json_each('[' || " +
        "replace(hex(zeroblob(2000)), '00', '1,') || '1]')) " +
        "INSERT INTO p (a) SELECT 'secret' || row_number() OVER () FROM n",
      "UPDATE p SET a = 'kept' || id WHERE id % 3 = 0",
      "DELETE FROM p WHERE a GLOB 'secret*'",
      "DELETE FROM r WHERE a = 'secret'",
      "DELETE FROM k WHERE a = 'secret'",
    );
    const all = async () => [
      await rows(driver, "SELECT rowid, *, typeof(a), typeof(b) FROM r"),
      await rows(driver, "SELECT *, typeof(b) FROM k"),
      await rows(driver, "SELECT * FROM p"),
      await rows(driver, "SELECT * FROM sqlite_sequence"),
      await rows(driver, "SELECT * FROM sqlite_schema"),
    ];
    const before = await all();
    await driver.vacuum();
    assert.deepEqual(await all(), before, name);
    assert.deepEqual(await rows(driver, "PRAGMA integrity_check"), [["ok"]]);
    await using folder = await temporaryFolder();
    const copy = `${folder.path}/copy.db`;
    await driver.copyTo?.(copy);
    const bytes = new TextDecoder("latin1").decode(await Deno.readFile(copy));
    assert.match(bytes, /kept3/);
    assert.doesNotMatch(bytes, /secret/);
  },
);

import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import type { NewEvent } from "../events/event.ts";
import { eraseBody } from "../testing/erase_body.ts";
import type { Driver, SqlValue } from "../store/database.ts";
import { orderRead, webhook } from "../testing/projection_test_kit.ts";
import { EVENT_COLUMNS, eventsOf, hexOf } from "../store/events.ts";
import { emptyLedger } from "../testing/empty_ledger.ts";
import {
  append,
  newLedger,
  prepared,
  projectAll,
  select,
} from "../testing/fold_kit.ts";
import { testEvents } from "../testing/test_events.ts";
import { type Broken, headText, leafOf, verifySeals } from "./evidence.ts";

/** Nine events, sealed three at a time. */
async function sealed(): Promise<Driver> {
  const driver = await newLedger();
  const events = Array.from(
    { length: 9 },
    (_, at) =>
      at % 2 === 0
        ? webhook(`W${at}`, at, { type: "login", click_id: `C${at}` })
        : orderRead(at, { orderId: `O${at}`, status: "pending" }),
  );
  for (let from = 0; from < 9; from += 3) {
    await append(driver, events.slice(from, from + 3));
    await projectAll(driver);
  }
  return driver;
}

const run = (driver: Driver, ...statements: string[]) =>
  driver.batch(statements.map((sql) => ({ sql, args: [] })), "write");

const TAMPERED: readonly {
  readonly what: string;
  readonly sql: readonly string[];
  readonly found: Broken | null;
}[] = [
  {
    what: "a body",
    sql: ["UPDATE events SET body = CAST('{}' AS BLOB) WHERE position = 5"],
    found: [5, "altered", { code: "event_altered" }],
  },
  {
    what: "a kind",
    sql: ["UPDATE events SET kind = 'note' WHERE position = 2"],
    found: [2, "altered", { code: "event_altered" }],
  },
  {
    what: "an id",
    sql: ["UPDATE events SET id = 'another' WHERE position = 9"],
    found: [9, "altered", { code: "event_altered" }],
  },
  {
    what: "when it was recorded",
    sql: ["UPDATE events SET recorded_at = recorded_at + 1 WHERE position = 1"],
    found: [1, "altered", { code: "event_altered" }],
  },
  {
    what: "when it was read",
    sql: ["UPDATE events SET read_at = read_at + 1 WHERE position = 4"],
    found: [4, "altered", { code: "event_altered" }],
  },
  {
    what: "a salt",
    sql: ["UPDATE events SET salt = randomblob(16) WHERE position = 3"],
    found: [3, "altered", { code: "event_altered" }],
  },
  {
    what: "two bodies that change places",
    sql: [
      "UPDATE events SET body = (SELECT body FROM events WHERE position = 7) " +
      "WHERE position = 5",
    ],
    found: [5, "altered", { code: "event_altered" }],
  },
  {
    what: "an event that is gone",
    sql: ["DELETE FROM events WHERE position = 5"],
    found: [5, "removed", { code: "event_gone" }],
  },
  {
    what: "the last event of a batch that is gone",
    sql: ["DELETE FROM events WHERE position = 6"],
    found: [6, "removed", { code: "event_gone" }],
  },
  {
    what: "an event moved between two others",
    sql: [
      "DELETE FROM events WHERE position = 8",
      "UPDATE events SET position = 8 WHERE position = 2",
    ],
    found: [2, "removed", { code: "event_gone" }],
  },
  {
    what: "an event put before the first",
    sql: [
      "INSERT INTO events SELECT 0, 'new', kind, recorded_at, read_at, body, " +
      "salt FROM events WHERE position = 1",
    ],
    found: [0, "inserted", { code: "link_missing" }],
  },
  {
    what: "a root",
    sql: ["UPDATE seals SET root = zeroblob(32) WHERE last_position = 6"],
    found: [4, "altered", { code: "link_altered" }],
  },
  {
    what: "how many events are sealed",
    sql: ["UPDATE seals SET events = events + 1 WHERE last_position = 3"],
    found: [1, "altered", { code: "link_altered" }],
  },
  {
    what: "leaves",
    sql: [
      "UPDATE seals SET leaves = zeroblob(length(leaves)) " +
      "WHERE last_position = 3",
    ],
    found: [1, "altered", { code: "event_altered" }],
  },
  {
    what: "a tail that is cut, its seal left",
    sql: ["DELETE FROM events WHERE position > 6"],
    found: [7, "removed", { code: "event_gone" }],
  },
  {
    what: "a seal that is gone",
    sql: ["DELETE FROM seals WHERE last_position = 6"],
    found: [4, "inserted", { code: "link_missing" }],
  },
  {
    what: "the last seal that is gone",
    sql: ["DELETE FROM seals WHERE last_position = 9"],
    found: [7, "removed", { code: "link_missing" }],
  },
];

for (const { what, sql, found } of TAMPERED) {
  Deno.test(`verifySeals() names the place of ${what}`, async () => {
    const driver = await sealed();
    assert.equal((await verifySeals(driver)).broken, null);
    await run(driver, ...sql);
    assert.deepEqual((await verifySeals(driver)).broken, found);
    await driver.close();
  });
}

Deno.test("a tail that is cut with its seals is seen by a head that was kept", async () => {
  const driver = await sealed();
  const kept = headText((await verifySeals(driver)).seal);
  await run(
    driver,
    "DELETE FROM events WHERE position > 6",
    "DELETE FROM seals WHERE last_position > 6",
    "UPDATE ledger SET position = 6",
  );
  const { broken, events, held } = await verifySeals(driver, { heads: [kept] });
  assert.deepEqual([broken, events, held.has(kept)], [null, 6, false]);
  await driver.close();
});

Deno.test("what is not folded yet is counted and not vouched for", async () => {
  const driver = await sealed();
  await append(driver, [webhook("late", 20, { type: "login" })]);
  const { broken, events, unsealed } = await verifySeals(driver);
  assert.deepEqual([broken, events, unsealed], [null, 9, 1]);
  await driver.close();
});

Deno.test("another body is accepted where an erasure names it, and no third one", async () => {
  const driver = await sealed();
  const [before] = await stored(driver, 5);
  await run(
    driver,
    `UPDATE events SET body = CAST('{"type":"login"}' AS BLOB)
      WHERE position = 5`,
  );
  assert.deepEqual((await verifySeals(driver)).broken?.[0], 5);
  const [after] = await stored(driver, 5);
  assert.ok(before !== undefined && after !== undefined);
  const replaced = [[5, hexOf(leafOf(before)), hexOf(leafOf(after))]];
  await append(driver, [erasure("E1", { replaced })]);
  const unsealed = await verifySeals(driver);
  assert.deepEqual([unsealed.broken, unsealed.erased], [null, 1]);
  await projectAll(driver);
  const { broken, erased, events } = await verifySeals(driver);
  assert.deepEqual([broken, erased, events], [null, 1, 10]);

  await run(
    driver,
    "UPDATE events SET body = CAST('{}' AS BLOB) WHERE position = 5",
  );
  assert.deepEqual((await verifySeals(driver)).broken, [5, "altered", {
    code: "erased_event_altered",
  }]);
  await driver.close();
});

Deno.test("verifySeals() finds an erasure altered, whatever stands in its place", async () => {
  for (
    const body of ["{", "null", '{"replaced":7}', '{"replaced":[7,null,[]]}']
  ) {
    const driver = await sealed();
    await eraseBody(driver, 5);
    await projectAll(driver);
    assert.equal((await verifySeals(driver)).broken, null);
    await driver.batch([{
      sql: "UPDATE events SET body = ? WHERE kind = 'person_erased'",
      args: [new TextEncoder().encode(body)],
    }], "write");
    const { broken } = await verifySeals(driver);
    assert.deepEqual(broken, [5, "altered", { code: "event_altered" }], body);
    await driver.close();
  }
});

async function stored(driver: Driver, position: number) {
  const [found] = await driver.batch([{
    sql: `SELECT ${EVENT_COLUMNS} FROM events AS e WHERE e.position = ?`,
    args: [position],
  }], "read");
  return eventsOf(found?.rows);
}

function erasure(eventId: string, body: object): NewEvent {
  return {
    ...webhook(eventId, 30, body),
    kind: "person_erased" as NewEvent["kind"],
  };
}

Deno.test("an event that is erased while verifySeals() walks is no damage", async () => {
  const driver = await sealed();
  let reads = 0;
  const meanwhile: Driver = {
    location: driver.location,
    async batch(statements, mode) {
      if (++reads === 3) await eraseBody(driver, 8);
      return await driver.batch(statements, mode);
    },
    close: () => Promise.resolve(),
  };
  const { broken, erased } = await verifySeals(meanwhile);
  assert.deepEqual([broken, erased], [null, 1]);
  await driver.close();
});

Deno.test("verifySeals() is not disturbed by what others append and fold meanwhile", async () => {
  const driver = await sealed();
  const others: Promise<unknown>[] = [];
  const { broken, events } = await verifySeals(driver, {
    onProgress: (events) => {
      others.push(
        append(driver, [webhook(`N${events}`, 20, { type: "login" })])
          .then(() => projectAll(driver)),
      );
    },
  });
  assert.equal(broken, null);
  assert.ok(events >= 9);
  await Promise.all(others);
  await driver.close();
});

Deno.test("verifySeals() finds an event inserted into a gap, and none is wrong with the gap", async () => {
  const driver = await newLedger();
  for (const at of [0, 1, 2]) {
    await append(driver, [webhook(`W${at}`, at, { type: "login" })]);
  }
  await run(driver, "DELETE FROM events WHERE position = 2");
  await projectAll(driver);
  assert.equal((await verifySeals(driver)).broken, null);
  await run(
    driver,
    "INSERT INTO events SELECT 2, 'new', kind, recorded_at, read_at, body, salt" +
      " FROM events WHERE position = 1",
  );
  const { broken } = await verifySeals(driver);
  assert.deepEqual(broken, [2, "inserted", { code: "link_missing" }]);
  await driver.close();
});

Deno.test("seals say the same for ever: heads are kept elsewhere", async () => {
  const driver = await newLedger();
  const heads = [headText((await verifySeals(driver)).seal)];
  for (const part of [testEvents(2), testEvents(1, 2)]) {
    await append(driver, part);
    await projectAll(driver);
    heads.push(headText((await verifySeals(driver)).seal));
  }
  assert.deepEqual(heads, [
    "0:f0bdff49103686a07e130d85b4facd8bc6014f11026727b522157194d9b9900d",
    "2:875a0d674946cea9a9cbe458a8a80d2f47f7564b51b3054ea0b9f4e9267fe06f",
    "3:3ac99da1d521295cf2b036488f37ca167822ff7e0901775cc86f5456f857f259",
  ]);
  await driver.close();
});

Deno.test("Ledger.verify() finds a history that was cut or rewritten whole, when told what to expect", async () => {
  await using ledger = await emptyLedger();
  const { driver } = ledger;
  await ledger.append(testEvents(3));
  await ledger.project();
  await ledger.append(testEvents(2, 3));
  const { chain: { events: count, hash } } = await ledger.project();
  const verified = async () => {
    const { ok, damage, reason, firstBrokenPosition } = await ledger.verify({
      expect: { count, hash },
    });
    return { ok, damage, code: reason?.code, firstBrokenPosition };
  };
  assert.deepEqual(await verified(), {
    ...{ ok: true, damage: null, code: undefined, firstBrokenPosition: null },
  });
  await run(
    driver,
    "DELETE FROM events WHERE position > 3",
    "DELETE FROM seals WHERE last_position > 3",
    "UPDATE ledger SET position = 3",
  );
  assert.equal((await ledger.verify()).ok, true, "nothing else tells");
  assert.deepEqual(await verified(), {
    ...{ ok: false, damage: "unexpected", code: "fewer_than_expected" },
    firstBrokenPosition: 4,
  });
  await ledger.append(testEvents(2, 50));
  await ledger.project();
  const { ok, code } = await verified();
  assert.deepEqual([ok, code], [false, "other_hash_than_expected"]);
});

/** A ledger in memory that tells how many events were looked at. */
async function countedLedger(events: number) {
  const database = new DatabaseSync(":memory:");
  let looks = 0;
  database.function("looked", () => {
    looks++;
    return 1;
  });
  const driver: Driver = {
    location: "memory",
    batch: (statements) =>
      Promise.resolve(statements.map(({ sql, args }) => {
        const found = database.prepare(sql);
        found.setReturnArrays(true);
        const rows = found.all(...args) as unknown as SqlValue[][];
        const columns = found.columns().map(({ name }) => name);
        return { columns, rows, rowsAffected: 0 };
      })),
    close: () => Promise.resolve(database.close()),
  };
  await prepared(driver);
  await append(driver, testEvents(events));
  await projectAll(driver, { maxEvents: 50 });
  // Whoever looks for an event sees this in its place, and is counted.
  database.exec(`ALTER TABLE events RENAME TO stored_events;
    CREATE VIEW events AS SELECT * FROM stored_events WHERE looked()`);
  return { driver, looks: () => looks };
}

Deno.test("verifySeals() looks at each event a few times, however many there are", async () => {
  for (const events of [500, 2000]) {
    const { driver, looks } = await countedLedger(events);
    const { broken, seal } = await verifySeals(driver);
    assert.deepEqual([broken, seal.events], [null, events]);
    assert.ok(looks() <= 4 * events, `${looks()} looks at ${events} events`);
    await driver.close();
  }
});

Deno.test("a short body cannot be guessed from its leaf", async () => {
  const driver = await sealed();
  const [one] = await stored(driver, 1);
  assert.ok(one !== undefined);
  const other = { ...one, salt: new Uint8Array(16).fill(9) };
  assert.notDeepEqual(leafOf(one), leafOf(other));
  assert.equal((await select(driver, "SELECT * FROM seals")).length, 3);
  await driver.close();
});

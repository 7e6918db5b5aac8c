import assert from "node:assert/strict";
import type { NewEvent } from "../events/event.ts";
import type { Driver } from "../store/driver/driver.ts";
import { orderRead, webhook } from "../testing/projection_test_kit.ts";
import { EVENT_COLUMNS, eventsOf, hexOf } from "../store/events.ts";
import { append, newLedger, projectAll, select } from "../testing/fold_kit.ts";
import { leafOf } from "./seals.ts";
import { headText, type SealsVerified, verifySeals } from "./verify.ts";

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
  readonly found: SealsVerified["broken"];
}[] = [
  {
    what: "a body",
    sql: ["UPDATE events SET body = CAST('{}' AS BLOB) WHERE position = 5"],
    found: { position: 5, why: "altered" },
  },
  {
    what: "a kind",
    sql: ["UPDATE events SET kind = 'note' WHERE position = 2"],
    found: { position: 2, why: "altered" },
  },
  {
    what: "an id",
    sql: ["UPDATE events SET id = 'another' WHERE position = 9"],
    found: { position: 9, why: "altered" },
  },
  {
    what: "when it was recorded",
    sql: ["UPDATE events SET recorded_at = recorded_at + 1 WHERE position = 1"],
    found: { position: 1, why: "altered" },
  },
  {
    what: "when it was read",
    sql: ["UPDATE events SET read_at = read_at + 1 WHERE position = 4"],
    found: { position: 4, why: "altered" },
  },
  {
    what: "a salt",
    sql: ["UPDATE events SET salt = randomblob(16) WHERE position = 3"],
    found: { position: 3, why: "altered" },
  },
  {
    what: "two bodies that change places",
    sql: [
      "UPDATE events SET body = (SELECT body FROM events WHERE position = 7) " +
      "WHERE position = 5",
    ],
    found: { position: 5, why: "altered" },
  },
  {
    what: "an event that is gone",
    sql: ["DELETE FROM events WHERE position = 5"],
    found: { position: 5, why: "removed" },
  },
  {
    what: "the last event of a batch that is gone",
    sql: ["DELETE FROM events WHERE position = 6"],
    found: { position: 6, why: "removed" },
  },
  {
    what: "an event moved between two others",
    sql: [
      "DELETE FROM events WHERE position = 8",
      "UPDATE events SET position = 8 WHERE position = 2",
    ],
    found: { position: 2, why: "removed" },
  },
  {
    what: "a root",
    sql: ["UPDATE seals SET root = zeroblob(32) WHERE last_position = 6"],
    found: { position: 4, why: "seal_altered" },
  },
  {
    what: "how many events are sealed",
    sql: ["UPDATE seals SET events = events + 1 WHERE last_position = 3"],
    found: { position: 1, why: "seal_altered" },
  },
  {
    what: "leaves",
    sql: [
      "UPDATE seals SET leaves = zeroblob(length(leaves)) " +
      "WHERE last_position = 3",
    ],
    found: { position: 1, why: "altered" },
  },
  {
    what: "a seal that is gone",
    sql: ["DELETE FROM seals WHERE last_position = 6"],
    found: { position: 4, why: "inserted" },
  },
  {
    what: "the last seal that is gone",
    sql: ["DELETE FROM seals WHERE last_position = 9"],
    found: { position: 7, why: "head_moved" },
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
  assert.deepEqual((await verifySeals(driver)).broken?.position, 5);
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
  assert.deepEqual((await verifySeals(driver)).broken, {
    position: 5,
    why: "altered_after_erasure",
  });
  await driver.close();
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

Deno.test("a short body cannot be guessed from its leaf", async () => {
  const driver = await sealed();
  const [one] = await stored(driver, 1);
  assert.ok(one !== undefined);
  const other = { ...one, salt: new Uint8Array(16).fill(9) };
  assert.notDeepEqual(leafOf(one), leafOf(other));
  assert.equal((await select(driver, "SELECT * FROM seals")).length, 3);
  await driver.close();
});

import assert from "node:assert/strict";
import type { Driver, SqlValue } from "../../driver/driver.ts";
import { openDriver } from "../../connections/open_driver.ts";
import { makeLedger } from "../../stamp.ts";
import { blankEvents } from "../erasure/blanked_events.ts";
import { deleteFromOpen, queueNamed, queueOpen } from "./queued_requests.ts";
import { entityIdSql } from "./request_places.ts";
import { markKnown } from "./request_queues.ts";

async function store(events: readonly [string | null, string | null][]) {
  const driver = await openDriver({ url: ":memory:", worker: false });
  await makeLedger(driver, { environment: "sandbox", now: () => 0 });
  for (const [orderId, userId] of events) {
    await rows(
      driver,
      `INSERT INTO events (event_id, kind, order_id, user_id, recorded_at)
        VALUES (hex(randomblob(8)), 'webhook', ?, ?, '')`,
      orderId,
      userId,
    );
  }
  return driver;
}

async function rows(driver: Driver, sql: string, ...args: SqlValue[]) {
  const [found] = await driver.batch([{ sql, args }], "write");
  return found?.rows.map((row) => [...row]) ?? [];
}

const waiting = (driver: Driver) =>
  rows(
    driver,
    `SELECT q.queue, q.entity, ${
      entityIdSql("q")
    }, q.place, q.entity_id, q.known
      FROM requests AS q ORDER BY q.seq`,
  );

Deno.test("queueNamed() and queueOpen() name what they queue by its first event, and by its id where no event names it", async () => {
  const driver = await store([["O1", "U1"], ["O1", null]]);
  const named = (entity: "order" | "user", entityId: string) =>
    ({ entity, entityId, atMs: 1, known: false }) as const;
  for (let turn = 0; turn < 2; turn++) {
    await driver.batch([
      queueNamed([
        named("order", "O1"),
        named("user", "U1"),
        named("order", "U1"),
      ]),
      queueOpen([["O1", 0, 1, 1], ["O2", 0, 1, 1]]),
    ], "write");
  }
  assert.deepEqual(await waiting(driver), [
    [0, "order", "O1", 1, null, 0],
    [0, "user", "U1", 1, null, 0],
    [0, "order", "U1", null, "U1", 0],
    [1, "order", "O1", 1, null, 0],
    [1, "order", "O2", null, "O2", 0],
  ]);
  await driver.batch([
    markKnown("order", ["O1", "U1"]),
    deleteFromOpen(["O2", "O1"]),
  ], "write");
  assert.deepEqual(await waiting(driver), [
    [0, "order", "O1", 1, null, 1],
    [0, "user", "U1", 1, null, 0],
    [0, "order", "U1", null, "U1", 1],
  ]);
  await driver.close();
});

Deno.test("blankEvents() leaves each request with the order or user that it means", async () => {
  const driver = await store([["O1", "U1"], ["O1", null], ["O2", "U1"]]);
  await driver.batch([queueOpen([["O1", 0, 1, 1], ["O2", 0, 1, 1]])], "write");
  await driver.batch([
    queueNamed([{ entity: "user", entityId: "U1", atMs: 1, known: false }]),
  ], "write");
  const blank = (position: number) =>
    driver.batch(
      blankEvents([{
        blanked: {
          position,
          eventId: `E${position}`,
          orderId: null,
          userId: null,
          clickId: null,
        },
        part: "body",
        commitment: new Uint8Array(32),
      }]),
      "write",
    );
  await blank(1);
  assert.deepEqual(await waiting(driver), [
    [1, "order", "O1", 2, null, 0],
    [1, "order", "O2", 3, null, 0],
    [0, "user", "U1", 3, null, 0],
  ]);
  await blank(3);
  await blank(2);
  assert.deepEqual(await waiting(driver), [
    [1, "order", "O1", null, "O1", 0],
    [1, "order", "O2", null, "O2", 0],
    [0, "user", "U1", null, "U1", 0],
  ]);
  await driver.close();
});

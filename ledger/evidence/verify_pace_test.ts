import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import type { Driver, SqlValue } from "../store/driver/driver.ts";
import { EventLog } from "../store/event_log.ts";
import { prepare, testEvents } from "../testing/test_events.ts";
import { extendChain } from "./extend_chain.ts";
import { verifyChain } from "./verify_chain.ts";

/** A database in memory that tells how many events were looked at. */
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
        const rows = database.prepare(sql).all(...args);
        return {
          columns: Object.keys(rows[0] ?? {}),
          rows: rows.map((row) => Object.values(row) as SqlValue[]),
          rowsAffected: 0,
        };
      })),
    close: () => {
      database.close();
      return Promise.resolve();
    },
  };
  const stamp = await prepare(driver);
  await new EventLog(driver).append(testEvents(events));
  await extendChain(driver, stamp);
  // Whoever looks for an event sees this in its place, and is counted.
  database.exec(`ALTER TABLE events RENAME TO stored_events;
    CREATE VIEW events AS SELECT * FROM stored_events WHERE looked()`);
  return { driver, stamp, looks: () => looks };
}

Deno.test("verifyChain() looks at each event a few times, however many there are", async () => {
  for (const events of [500, 2000]) {
    const { driver, stamp, looks } = await countedLedger(events);
    const found = await verifyChain(driver, stamp, { limit: 50 });
    assert.deepEqual([found.ok, found.events], [true, events]);
    assert.ok(looks() <= 8 * events, `${looks()} looks at ${events} events`);
    await driver.close();
  }
});

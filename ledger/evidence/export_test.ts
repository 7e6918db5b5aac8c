import assert from "node:assert/strict";
import fc from "fast-check";
import { webhookEvent } from "../event/mint.ts";
import type { Driver } from "../store/driver.ts";
import { LedgerError } from "../store/errors.ts";
import { EventLog } from "../store/event_log.ts";
import { type LedgerStamp, migrate } from "../store/migrate.ts";
import { openDriver } from "../store/open_driver.ts";
import { testEachDatabase } from "../store/test_databases.ts";
import {
  prepare,
  testEvent,
  testEvents,
  testMigrations,
} from "../store/test_events.ts";
import { backupLedger } from "./backup.ts";
import { extendChain } from "./chain_projection.ts";
import { eraseBody } from "./erase.ts";
import { exportLedger } from "./export.ts";
import { importLedger } from "./import.ts";
import { verifyChain } from "./verify.ts";

/** A ledger with an identity of its own. */
async function emptyLedger(
  environment: string = "sandbox",
): Promise<{ driver: Driver; stamp: LedgerStamp; log: EventLog }> {
  const driver = await openDriver({ url: ":memory:", worker: false });
  const stamp = await migrate(driver, {
    migrations: testMigrations,
    environment,
    now: Date.now,
  });
  return { driver, stamp, log: new EventLog(driver) };
}

async function lines(driver: Driver, stamp: LedgerStamp): Promise<string[]> {
  return await Array.fromAsync(exportLedger(driver, stamp, { limit: 7 }));
}

async function* from(texts: readonly string[]): AsyncGenerator<string> {
  yield* texts;
}

function failsWith(code: string): (error: unknown) => boolean {
  return (error) => error instanceof LedgerError && error.code === code;
}

testEachDatabase(
  "an export comes back byte for byte",
  async (database, kind) => {
    if (kind.name === "sqld replica") return; // Reads there may be earlier.
    const driver = await database.open();
    const stamp = await prepare(driver);
    const log = new EventLog(driver);
    await log.append(testEvents(20));
    await driver.batch([{
      sql: "DELETE FROM events WHERE position IN (3, 11)",
      args: [],
    }], "write");
    await eraseBody(driver, 5);
    const head = await extendChain(driver, stamp);
    const written = await lines(driver, stamp);
    assert.equal(written.length, 20);
    assert.ok(written.every((line) => line.endsWith("\n")));

    const other = await emptyLedger();
    const report = await importLedger(other.driver, other.stamp, from(written));
    assert.deepEqual([report.events, report.added], [18, 18]);
    assert.equal(report.stamp.ledgerId, stamp.ledgerId);
    assert.deepEqual(await lines(other.driver, report.stamp), written);
    assert.deepEqual(await extendChain(other.driver, report.stamp), head);
    const expect = { count: head.events, hash: head.hash };
    const found = await verifyChain(other.driver, report.stamp, { expect });
    assert.deepEqual([found.ok, found.erased], [true, 1], found.detail ?? "");
    await other.driver.close();
  },
);

Deno.test("importLedger() brings back any bytes and any text", async () => {
  const body = fc.uint8Array({ maxLength: 40 });
  const text = fc.string({ unit: "grapheme", minLength: 1 })
    .filter((value) => !value.includes("\0"));
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.tuple(text, body), { selector: ([id]) => id }),
      async (deliveries) => {
        const first = await emptyLedger();
        await first.log.append(
          deliveries.map(([id, bytes], at) =>
            webhookEvent({
              id,
              receivedAt: "2026-01-01T00:00:00.000Z",
              body: at % 2 ? bytes : new TextEncoder().encode(
                JSON.stringify({ type: id, click_id: id }),
              ),
            }, new Uint8Array(16).fill(at))
          ),
        );
        const written = await lines(first.driver, first.stamp);
        const second = await emptyLedger();
        const { stamp } = await importLedger(
          second.driver,
          second.stamp,
          from(written),
        );
        assert.deepEqual(await lines(second.driver, stamp), written);
        await first.driver.close();
        await second.driver.close();
      },
    ),
    { numRuns: 30 },
  );
});

Deno.test("importLedger() goes on after it was interrupted, and adds what is new", async () => {
  const { driver, stamp, log } = await emptyLedger();
  await log.append(testEvents(30));
  const written = await lines(driver, stamp);
  const other = await emptyLedger();
  await assert.rejects(
    importLedger(other.driver, other.stamp, from(written.slice(0, 12))),
    (error) => error instanceof SyntaxError && /cut/.test(error.message),
  );
  const again = await importLedger(other.driver, other.stamp, from(written));
  assert.deepEqual([again.events, again.added], [30, 19]);
  await extendChain(other.driver, again.stamp);
  await log.append(testEvents(5, 30));
  const newer = await lines(driver, stamp);
  const more = await importLedger(other.driver, again.stamp, from(newer));
  assert.deepEqual([more.events, more.added], [35, 5]);
  assert.deepEqual(await lines(other.driver, more.stamp), newer);
  await driver.close();
  await other.driver.close();
});

Deno.test("importLedger() never mixes two ledgers", async () => {
  const { driver, stamp, log } = await emptyLedger();
  await log.append(testEvents(3));
  const written = await lines(driver, stamp);
  const other = await emptyLedger();
  await other.log.append([testEvent(50)]);
  await assert.rejects(
    importLedger(other.driver, other.stamp, from(written)),
    failsWith("not_empty"),
  );
  assert.equal((await other.log.read({ after: 0, limit: 9 })).length, 1);
  const production = await emptyLedger("production");
  await assert.rejects(
    importLedger(production.driver, production.stamp, from(written)),
    failsWith("wrong_environment"),
  );
  for (const one of [driver, other.driver, production.driver]) {
    await one.close();
  }
});

Deno.test("importLedger() puts nothing before what the chain has passed", async () => {
  const { driver, stamp, log } = await emptyLedger();
  await log.append(testEvents(6));
  const written = await lines(driver, stamp);
  const other = await emptyLedger();
  const gap = written.filter((_, at) => at !== 3);
  gap[gap.length - 1] = '{"end":5}\n';
  const { stamp: adopted } = await importLedger(
    other.driver,
    other.stamp,
    from(gap),
  );
  await extendChain(other.driver, adopted);
  await assert.rejects(
    importLedger(other.driver, adopted, from(written)),
    failsWith("not_empty"),
  );
  // A ledger that forked from the file has another event at that position.
  await driver.batch([{
    sql: "DELETE FROM events WHERE position = 6",
    args: [],
  }], "write");
  await other.log.append([testEvent(70)]);
  await driver.batch([{
    sql: "UPDATE sqlite_sequence SET seq = 6",
    args: [],
  }], "write");
  await log.append([testEvent(71)]);
  const forked = await lines(driver, stamp);
  await assert.rejects(
    importLedger(other.driver, adopted, from(forked)),
    failsWith("not_empty"),
  );
  await driver.close();
  await other.driver.close();
});

Deno.test("importLedger() names the line that is no part of an export", async () => {
  const { driver, stamp, log } = await emptyLedger();
  await log.append(testEvents(2));
  const [header = "", first = "", second = "", end = ""] = await lines(
    driver,
    stamp,
  );
  const wrong: [readonly string[], RegExp][] = [
    [[], /line 1: the file is empty/],
    [["{"], /line 1/],
    [[first], /line 1: it does not begin/],
    [[header, "nonsense"], /line 2/],
    [[header, first.replace('"eventId"', '"eventID"')], /line 2: eventId/],
    [[header, first.replace('"webhook"', '"gossip"')], /line 2: kind/],
    [[header, first.replace(/"body":"/, '"body":"!')], /line 2: body/],
    [[header, first], /cut/],
    [[header, first, end], /says 2 events; there were 1/],
    [[header, first, second, end, first], /line 5: nothing may follow/],
  ];
  for (const [texts, message] of wrong) {
    const other = await emptyLedger();
    await assert.rejects(
      importLedger(other.driver, other.stamp, from(texts)),
      (error) => {
        assert.ok(error instanceof SyntaxError);
        assert.match(error.message, message);
        return true;
      },
    );
    await other.driver.close();
  }
  await driver.close();
});

testEachDatabase(
  "backupLedger() copies a ledger in use, and the copy verifies",
  async (database, kind) => {
    if (kind.name === "sqld replica") return; // Reads there may be earlier.
    const directory = await Deno.makeTempDir({ prefix: "rampkit-test-" });
    try {
      const driver = await database.open();
      const stamp = await prepare(driver);
      const log = new EventLog(driver);
      await log.append(testEvents(50));
      const head = await extendChain(driver, stamp);
      const path = `${directory}/a copy #1.db`;
      const options = { stamp, path, migrations: testMigrations };
      const appending = Promise.all(
        testEvents(50, 50).map((event) => log.append([event])),
      );
      await backupLedger({ driver, ...options, now: Date.now });
      await appending;
      await assert.rejects(
        backupLedger({ driver, ...options, now: Date.now }),
        failsWith("cannot_open"),
      );
      const url = `file:${directory}/a%20copy%20%231.db`;
      const copy = await openDriver({ url });
      try {
        const restored = await prepare(copy);
        assert.deepEqual(restored, stamp);
        const found = await verifyChain(copy, restored, {
          expect: { count: head.events, hash: head.hash },
        });
        assert.equal(found.ok, true, found.detail ?? "");
        await new EventLog(copy).append([testEvent(1000)]);
      } finally {
        await copy.close();
      }
    } finally {
      await Deno.remove(directory, { recursive: true });
    }
  },
);

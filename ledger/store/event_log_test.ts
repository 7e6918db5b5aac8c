import assert from "node:assert/strict";
import fc from "fast-check";
import type { NewEvent, RecordedEvent } from "../events/event.ts";
import { concatenated } from "../../core/bytes.ts";
import {
  deliveryRecord,
  noteRecord,
} from "../../core/wire/delivery_records.ts";
import { deliveryUnanswered, webhookEvent } from "../testing/mint.ts";
import { type Driver, LedgerError } from "./database.ts";
import { EventLog } from "./events.ts";
import { openDriver } from "../thread/open_driver.ts";
import { testEachDatabase } from "../testing/test_databases.ts";
import {
  prepare,
  storedEvents,
  testEvent,
  testEvents,
} from "../testing/test_events.ts";
import { tries } from "../../tests/kit/thorough.ts";

/** Every event, from the primary. */
function withoutPosition({ position, ...event }: RecordedEvent) {
  assert.ok(Number.isSafeInteger(position) && position > 0);
  return event;
}

async function memoryLog(): Promise<{ driver: Driver; log: EventLog }> {
  const driver = await openDriver({ url: ":memory:", worker: false });
  await prepare(driver);
  return { driver, log: new EventLog(driver) };
}

testEachDatabase("append() stores what it was given", async (database) => {
  const driver = await database.open();
  await prepare(driver);
  const log = new EventLog(driver);
  const [odd, empty] = [256, 0].map((length) =>
    webhookEvent({
      id: `01J${length}`,
      receivedAt: "2026-01-01T00:00:00.000Z",
      body: Uint8Array.from({ length }, (_, at) => at),
    }, new Uint8Array(16))
  );
  assert.ok(odd !== undefined && empty !== undefined);
  const written: NewEvent[] = [odd, empty, ...testEvents(20)];
  await log.append(written);
  await log.append([]);
  await log.append([testEvent(3), testEvent(20), testEvent(3)]);
  const back = await storedEvents(driver);
  assert.deepEqual(back.map(withoutPosition), [...written, testEvent(20)]);
});

testEachDatabase(
  "appendRecords() stores deliveries and notes in their order, each once",
  async (database) => {
    const driver = await database.open();
    await prepare(driver);
    const log = new EventLog(driver);
    const delivery = (n: number, text: string) => ({
      id: String(n).padStart(26, "0"),
      receivedAt: `2026-01-01T00:00:0${n}.123Z`,
      body: new TextEncoder().encode(text),
    });
    const deliveries = [
      delivery(1, '{"type":"login","click_id":"c1","user_id":"u2"}'),
      delivery(2, "not JSON"),
      delivery(3, ""),
    ];
    const unanswered = {
      id: delivery(1, "").id,
      noticedAt: "2026-01-01T00:00:05.000Z",
      answer: "late",
    } as const;
    const records = concatenated([
      ...deliveries.map(deliveryRecord),
      noteRecord(unanswered),
    ]);
    assert.deepEqual(await log.appendRecords(records), {
      counts: { login: 1, quarantined: 2 },
      odd: deliveries.slice(1).map(({ id }) => ({
        deliveryId: id,
        type: "quarantined",
        why: "It is not JSON",
      })),
    });
    await log.appendRecords(records);
    const back = (await storedEvents(driver)).map(withoutPosition);
    const salt = (at: number) => back[at]?.salt ?? new Uint8Array();
    assert.deepEqual(back, [
      ...deliveries.map((one, at) => webhookEvent(one, salt(at))),
      deliveryUnanswered({ unanswered, salt: salt(3) }),
    ]);
    assert.equal(new Set(back.map(({ salt }) => salt?.toHex())).size, 4);
    await log.close();
    await assert.rejects(log.appendRecords(records), LedgerError);
  },
);

testEachDatabase(
  "appendDelivery() stores the event that minting makes of it",
  async (database) => {
    const driver = await database.open();
    await prepare(driver);
    const log = new EventLog(driver, {
      randomBytes: (length) => new Uint8Array(length).fill(7),
    });
    const utf8 = new TextEncoder();
    const bodies = [
      '{"type":"order_complete","order":{"id":"o1"},"user":{"user_id":"u1"}}',
      '{"type":"login","click_id":"c1","user_id":"u2"}',
      '{"type":"\\ud800\\u0000","click_id":"test_click_id"}',
      "[1]",
      "not JSON",
      "",
    ].map((text) => utf8.encode(text));
    const deliveries = [...bodies, Uint8Array.of(0xff, 0, 0x22)]
      .map((body, at) => ({
        id: `01JDELIVERY${at}`,
        receivedAt: `2026-01-01T00:00:0${at}.000Z`,
        body,
      }));
    // Twice each, and among other events, in one group.
    await Promise.all([
      ...deliveries.map((delivery) => log.appendDelivery(delivery)),
      log.append([testEvent(1)]),
      ...deliveries.map((delivery) => log.appendDelivery(delivery)),
    ]);
    const back = new Map(
      (await storedEvents(driver)).map((event) => [event.eventId, event]),
    );
    assert.equal(back.size, deliveries.length + 1);
    for (const delivery of deliveries) {
      const event = back.get(delivery.id);
      assert.ok(event !== undefined);
      assert.deepEqual(
        withoutPosition(event),
        webhookEvent(delivery, new Uint8Array(16).fill(7)),
      );
    }
  },
);

testEachDatabase(
  "appendDelivery() refuses an id that cannot be a column, and that only",
  async (database) => {
    const driver = await database.open();
    await prepare(driver);
    const log = new EventLog(driver);
    const body = new TextEncoder().encode("{}");
    const receivedAt = "2026-01-01T00:00:00.000Z";
    const outcomes = await Promise.allSettled(
      ["01JA", "01J\0", "01JC"].map((id) =>
        log.appendDelivery({ id, receivedAt, body })
      ),
    );
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ["fulfilled", "rejected", "fulfilled"],
    );
    const ids = (await storedEvents(driver)).map(({ eventId }) => eventId)
      .sort();
    assert.deepEqual(ids, ["01JA", "01JC"]);
  },
);

testEachDatabase(
  "append() by many callers stores each event once",
  async (database, kind) => {
    const first = await database.open();
    await prepare(first);
    const second = kind.shared ? await database.open() : first;
    const logs = [new EventLog(first), new EventLog(second)];
    await Promise.all(
      Array.from(
        { length: 200 },
        (_, at) => logs[at % 2]?.append([testEvent(at), testEvent(at % 50)]),
      ),
    );
    const ids = (await storedEvents(first)).map(({ eventId }) => eventId)
      .sort();
    assert.deepEqual(ids, testEvents(200).map(({ eventId }) => eventId));
  },
);

Deno.test("append() tells each caller of its own events only", async () => {
  const { driver, log } = await memoryLog();
  const poison = { ...testEvent(5), recordedAt: null as unknown as string };
  const ill = { ...testEvent(6), eventId: "a\0b" };
  const outcomes = await Promise.allSettled([
    log.append([testEvent(1), testEvent(2)]),
    log.append([testEvent(3), poison]),
    log.append([testEvent(4)]),
    log.append([ill]),
    log.append([testEvent(7)]),
  ]);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ["fulfilled", "rejected", "fulfilled", "rejected", "fulfilled"],
  );
  const [, second, , fourth] = outcomes;
  assert.ok(second?.status === "rejected" && fourth?.status === "rejected");
  assert.equal(second.reason.code, "constraint");
  assert.ok(fourth.reason instanceof TypeError);
  assert.deepEqual(
    (await storedEvents(driver)).map(({ eventId }) => eventId),
    [1, 2, 4, 7].map((number) => testEvent(number).eventId),
  );
  await driver.close();
});

Deno.test("append() of any poisons stores all the others, in order", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.boolean(), { maxLength: 20 }),
      async (good) => {
        const { driver, log } = await memoryLog();
        const outcomes = await Promise.allSettled(good.map((fine, at) => {
          const event = testEvent(at);
          return log.append([
            fine ? event : { ...event, recordedAt: null as unknown as string },
          ]);
        }));
        assert.deepEqual(
          outcomes.map(({ status }) => status === "fulfilled"),
          good,
        );
        assert.deepEqual(
          (await storedEvents(driver)).map(({ eventId }) => eventId),
          good.flatMap((fine, at) => fine ? [testEvent(at).eventId] : []),
        );
        await driver.close();
      },
    ),
    { numRuns: tries(30) },
  );
});

Deno.test("append() asks again after a request that took longer than the retry limit, and gives up after the limit", async () => {
  const { driver } = await memoryLog();
  let nowMs = 0;
  let failures = 1;
  const slow: Driver = {
    location: "remote",
    batch: (statements, mode) => {
      if (failures-- <= 0) return driver.batch(statements, mode);
      nowMs += 10_000;
      return Promise.reject(new LedgerError("unreachable", "It timed out"));
    },
    close: () => driver.close(),
  };
  const log = new EventLog(slow, { now: () => nowMs });
  await log.append(testEvents(1));
  failures = 2;
  await assert.rejects(
    log.append(testEvents(1, 1)),
    (error) => error instanceof LedgerError && error.code === "unreachable",
  );
  assert.deepEqual((await storedEvents(driver)).length, 1);
  await driver.close();
});

Deno.test("append() shares transactions among concurrent callers", async () => {
  const { driver } = await memoryLog();
  let batches = 0;
  const counting: Driver = {
    location: "memory",
    batch: (statements, mode) => {
      batches++;
      return driver.batch(statements, mode);
    },
    close: () => driver.close(),
  };
  const log = new EventLog(counting);
  await Promise.all(testEvents(2048).map((event) => log.append([event])));
  assert.equal(batches, 4);
  await driver.close();
});

Deno.test("append() refuses what would pile up without end", async () => {
  const { driver, log } = await memoryLog();
  const body = new Uint8Array(8 << 20);
  const outcomes = await Promise.allSettled(
    testEvents(20).map((event) => log.append([{ ...event, body }])),
  );
  const refused = outcomes.filter(({ status }) => status === "rejected");
  assert.ok(refused.length >= 8 && refused.length <= 12, `${refused.length}`);
  for (const outcome of refused) {
    assert.ok(outcome.status === "rejected");
    assert.equal(outcome.reason.code, "overloaded");
  }
  await log.append([testEvent(99)]);
  await driver.close();
});

Deno.test("close() waits for what was appended before", async () => {
  const { driver, log } = await memoryLog();
  const appending = log.append(testEvents(5));
  await log.close();
  await appending;
  await assert.rejects(
    log.append([testEvent(9)]),
    (error) => error instanceof LedgerError && error.code === "closed",
  );
  assert.equal((await storedEvents(driver)).length, 5);
  await driver.close();
});

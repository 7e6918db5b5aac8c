import assert from "node:assert/strict";
import fc from "fast-check";
import { orderAbsent, orderSnapshot } from "../testing/mint.ts";
import type { Driver, SqlValue } from "../store/driver/driver.ts";
import { EventLog } from "../store/event_log.ts";
import type { LedgerStamp } from "../store/stamp.ts";
import { EVENTS, recordedEvent } from "../store/tables/events/event_rows.ts";
import { openDriver } from "../store/connections/open_driver.ts";
import { testEachDatabase } from "../testing/test_databases.ts";
import {
  prepare,
  storedEvents,
  testEvent,
  testEvents,
} from "../testing/test_events.ts";
import { chainHead } from "./chain_head.ts";
import { extendChain } from "./extend_chain.ts";
import {
  bodyCommitment,
  ERASED_ID,
  identityCommitment,
} from "../hashes/commitment.ts";
import { eraseBody } from "./erase.ts";
import type { Damage } from "./verification.ts";
import { verifyChain } from "./verify_chain.ts";
import { temporaryFolder } from "../../tests/kit/temporary_folder.ts";

interface Ledger extends AsyncDisposable {
  readonly driver: Driver;
  readonly stamp: LedgerStamp;
  readonly log: EventLog;
}

async function memoryLedger(events: number): Promise<Ledger> {
  const driver = await openDriver({ url: ":memory:", worker: false });
  const stamp = await prepare(driver);
  const log = new EventLog(driver);
  await log.append(testEvents(events));
  return {
    driver,
    stamp,
    log,
    [Symbol.asyncDispose]: () => driver.close(),
  };
}

async function run(
  driver: Driver,
  sql: string,
  ...args: SqlValue[]
): Promise<readonly (readonly SqlValue[])[]> {
  const [result] = await driver.batch([{ sql, args }], "write");
  return result?.rows ?? [];
}

testEachDatabase(
  "extendChain() covers every event once",
  async (database, kind) => {
    const first = await database.open();
    const stamp = await prepare(first);
    const second = kind.shared ? await database.open() : first;
    const log = new EventLog(first);
    await log.append(testEvents(40));
    const heads = await Promise.all([
      extendChain(first, stamp, { limit: 7 }),
      extendChain(second, stamp, { limit: 5 }),
      log.append(testEvents(20, 40)).then(() =>
        extendChain(second, stamp, { limit: 3 })
      ),
    ]);
    const head = await extendChain(first, stamp);
    assert.equal(head.events, 60);
    assert.ok(heads.every(({ events }) => events <= 60));
    assert.deepEqual(
      await run(first, "SELECT count(*), max(position) FROM chain"),
      [[60, head.position]],
    );
    const found = await verifyChain(first, stamp, {
      expect: { count: head.events, hash: head.hash },
    });
    // A replica may not have everything yet, but what it has is right.
    if (kind.name !== "sqld replica") {
      assert.deepEqual({ ok: found.ok, chained: found.chained }, {
        ok: true,
        chained: 60,
      });
    }
  },
);

Deno.test("extendChain() gives one hash, whatever the step size", async () => {
  const hashes = new Set<string>();
  for (const limit of [1, 2, 7, 500]) {
    await using ledger = await memoryLedger(30);
    hashes.add(
      (await extendChain(ledger.driver, ledger.stamp, { limit })).hash,
    );
  }
  assert.equal(hashes.size, 1);
});

Deno.test("extendChain() is pinned for a small ledger", async () => {
  await using ledger = await memoryLedger(3);
  const { driver, stamp } = ledger;
  assert.deepEqual(await chainHead(driver, stamp), {
    position: 0,
    events: 0,
    hash: "3f474a16232f2d8d1689d15759199057d30ab20b29392e8c84f7f142179e519b",
    broken: null,
  });
  assert.deepEqual(await extendChain(driver, stamp), {
    position: 3,
    events: 3,
    hash: "4dbd0c573b6d891687be2c3fca2e566061776bb6f6fb05f8afc205e5f7613cb6",
    broken: null,
  });
});

Deno.test("verifyChain() finds nothing wrong with a whole ledger", async () => {
  await using ledger = await memoryLedger(25);
  const { driver, stamp, log } = ledger;
  await run(driver, "DELETE FROM events WHERE position IN (4, 5, 25)");
  const head = await extendChain(driver, stamp);
  await log.append([testEvent(90)]);
  const progress: number[] = [];
  const found = await verifyChain(driver, stamp, {
    limit: 10,
    expect: { count: head.events, hash: head.hash },
    onProgress: (events) => progress.push(events),
  });
  assert.deepEqual(found, {
    ok: true,
    events: 23,
    chained: 22,
    unchained: 1,
    erased: 0,
    anchors: ["expect"],
    anchoredHead: null,
    resets: [],
    hash: head.hash,
    firstBrokenPosition: null,
    damage: null,
    reason: null,
  });
  assert.deepEqual(progress, [10, 20, 23]);
});

Deno.test("verifyChain() passes every kind of event", async () => {
  await using ledger = await memoryLedger(0);
  const { driver, stamp, log } = ledger;
  const about = {
    recordedAt: "2026-01-01T00:00:00.000Z",
    readAt: "2026-01-01T00:00:00.000Z",
    salt: new Uint8Array(16),
  };
  await log.append([
    testEvent(1),
    orderSnapshot({
      source: '{"order_id":"o","crypto_amount":1e-8}',
      ...about,
    }),
    orderAbsent({ orderId: "o", ...about }),
  ]);
  await extendChain(driver, stamp);
  assert.equal((await verifyChain(driver, stamp)).ok, true);
});

/** Ways to tamper with position `at`, and what is to be found there. */
const tampering: Record<string, readonly [Damage, ...string[]]> = {
  "a byte of the body": [
    "altered",
    "UPDATE events SET body = CAST(substr(body, 1, length(body) - 1) || ' ' " +
    "AS BLOB) WHERE position = $at",
  ],
  "the digest": [
    "altered",
    "UPDATE events SET digest = replace(digest, substr(digest, 1, 1), 'g') " +
    "WHERE position = $at",
  ],
  "the salt": [
    "altered",
    "UPDATE events SET salt = randomblob(16) WHERE position = $at",
  ],
  "the order": [
    "altered",
    "UPDATE events SET order_id = 'another' WHERE position = $at",
  ],
  "the time": [
    "altered",
    "UPDATE events SET recorded_at = '2020-01-01T00:00:00.000Z' " +
    "WHERE position = $at",
  ],
  "the user": [
    "altered",
    "UPDATE events SET user_id = 'another' WHERE position = $at",
  ],
  "the event's id": [
    "altered",
    "UPDATE events SET event_id = 'another' WHERE position = $at",
  ],
  "a body that was blanked": [
    "altered",
    "UPDATE events SET body = NULL, digest = NULL, salt = NULL " +
    "WHERE position = $at",
  ],
  "an erasure that did not happen": [
    "altered",
    "INSERT INTO erasures (position, part, commitment) " +
    "VALUES ($at, 'body', zeroblob(32))",
  ],
  "a body that was blanked and recorded with a made-up commitment": [
    "altered",
    "UPDATE events SET body = NULL, digest = NULL, salt = NULL " +
    "WHERE position = $at; INSERT INTO erasures (position, part, commitment) " +
    "VALUES ($at, 'body', zeroblob(32))",
  ],
  "a half erased body": [
    "altered",
    "UPDATE events SET body = NULL WHERE position = $at",
  ],
  "a removed event": ["removed", "DELETE FROM events WHERE position = $at"],
  "a removed event and its link": [
    "altered",
    "DELETE FROM events WHERE position = $at",
    "DELETE FROM chain WHERE position = $at",
  ],
  "a removed link": ["inserted", "DELETE FROM chain WHERE position = $at"],
  "a changed link": [
    "altered",
    "UPDATE chain SET hash = zeroblob(32) WHERE position = $at",
  ],
};

for (const [what, [damage, ...statements]] of Object.entries(tampering)) {
  Deno.test(`verifyChain() finds ${what}`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 29 }), async (at) => {
        await using ledger = await memoryLedger(30);
        const { driver, stamp } = ledger;
        await extendChain(driver, stamp);
        for (const sql of statements.flatMap((all) => all.split("; "))) {
          await run(driver, sql.replaceAll("$at", String(at)));
        }
        const found = await verifyChain(driver, stamp, { limit: 8 });
        assert.equal(found.ok, false);
        assert.equal(found.damage, damage, found.reason?.code ?? "");
        // Without its link, a removed event shows at the one that follows.
        const first = statements.length > 1 ? at + 1 : at;
        assert.equal(found.firstBrokenPosition, first);
        assert.equal(found.chained, first - (statements.length > 1 ? 2 : 1));
      }),
      { numRuns: 8 },
    );
  });
}

Deno.test("verifyChain() finds a swapped pair", async () => {
  const position = fc.integer({ min: 1, max: 30 });
  await fc.assert(
    fc.asyncProperty(position, position, async (a, b) => {
      fc.pre(a !== b);
      await using ledger = await memoryLedger(30);
      const { driver, stamp } = ledger;
      await extendChain(driver, stamp);
      const move = "UPDATE events SET position = ? WHERE position = ?";
      await run(driver, move, 99, a);
      await run(driver, move, a, b);
      await run(driver, move, b, 99);
      const found = await verifyChain(driver, stamp, { limit: 8 });
      assert.equal(found.damage, "reordered", found.reason?.code ?? "");
      assert.equal(found.firstBrokenPosition, Math.min(a, b));
    }),
    { numRuns: 20 },
  );
});

Deno.test("verifyChain() finds an event inserted into a gap", async () => {
  await using ledger = await memoryLedger(30);
  const { driver, stamp, log } = ledger;
  await run(driver, "DELETE FROM events WHERE position = 12");
  await extendChain(driver, stamp);
  await log.append([testEvent(77)]);
  await run(driver, "UPDATE events SET position = 12 WHERE position = 31");
  const found = await verifyChain(driver, stamp);
  assert.deepEqual([found.damage, found.firstBrokenPosition], ["inserted", 12]);
});

Deno.test("verifyChain() finds a cut tail, with the head left behind", async () => {
  await using ledger = await memoryLedger(30);
  const { driver, stamp } = ledger;
  await extendChain(driver, stamp);
  await run(driver, "DELETE FROM events WHERE position > 20");
  await run(driver, "DELETE FROM chain WHERE position > 20");
  const found = await verifyChain(driver, stamp);
  assert.deepEqual([found.damage, found.firstBrokenPosition], ["removed", 21]);
});

Deno.test("verifyChain() finds a history cut or rewritten whole, when told what to expect", async () => {
  await using ledger = await memoryLedger(30);
  const { driver, stamp } = ledger;
  const head = await extendChain(driver, stamp);
  const expect = { count: head.events, hash: head.hash };
  await run(driver, "DELETE FROM chain");
  await run(driver, "DELETE FROM chain_checkpoint");
  await run(driver, "DELETE FROM events WHERE position > 20");
  await extendChain(driver, stamp);
  assert.equal((await verifyChain(driver, stamp)).ok, true);
  const cut = await verifyChain(driver, stamp, { expect });
  assert.deepEqual([cut.damage, cut.firstBrokenPosition], ["unexpected", 21]);

  await ledger.log.append(testEvents(20, 50));
  await extendChain(driver, stamp);
  const rewritten = await verifyChain(driver, stamp, { expect });
  assert.equal(rewritten.damage, "unexpected");
  assert.equal(rewritten.chained, expect.count);
});

Deno.test("verifyChain() finds columns that never followed from the body", async () => {
  await using ledger = await memoryLedger(0);
  const { driver, stamp, log } = ledger;
  await log.append([testEvent(1), { ...testEvent(2), orderId: "another" }]);
  const before = await verifyChain(driver, stamp);
  assert.deepEqual([before.damage, before.firstBrokenPosition], [
    "underived",
    2,
  ]);
  await extendChain(driver, stamp);
  const after = await verifyChain(driver, stamp);
  assert.deepEqual([after.damage, after.firstBrokenPosition], ["underived", 2]);
});

Deno.test("verifyChain() is not disturbed by appends and links of others", async () => {
  await using ledger = await memoryLedger(100);
  const { driver, stamp, log } = ledger;
  await extendChain(driver, stamp);
  let next = 100;
  const checking = verifyChain(driver, stamp, {
    limit: 5,
    onProgress: () => {
      void log.append([testEvent(next++)]).then(() =>
        extendChain(driver, stamp)
      );
    },
  });
  const found = await checking;
  assert.equal(found.ok, true, found.reason?.code ?? "");
  assert.equal(found.chained, 100);
  await log.close();
  await extendChain(driver, stamp);
});

/** What a command will do that erases ids as well. */
async function eraseIds(driver: Driver, position: number): Promise<void> {
  const [row] = await run(
    driver,
    `SELECT ${EVENTS.list()} FROM events WHERE position = ?`,
    position,
  );
  const event = recordedEvent(row ?? []);
  const { body, digest, salt } = event;
  assert.ok(body !== null && digest !== null && salt !== null);
  const inner = bodyCommitment({ body, digest, salt });
  await run(
    driver,
    "INSERT INTO erasures (position, part, commitment) VALUES (?, 'identity', ?)",
    position,
    identityCommitment(event, inner),
  );
  await run(
    driver,
    "UPDATE events SET body = NULL, digest = NULL, salt = NULL, " +
      "order_id = NULL, user_id = NULL, click_id = NULL, " +
      "event_id = ? WHERE position = ?",
    `${ERASED_ID}${position}`,
    position,
  );
}

Deno.test("verifyChain() passes an event whose ids were erased, and holds it to the rest", async () => {
  for (const chainedFirst of [true, false]) {
    await using ledger = await memoryLedger(10);
    const { driver, stamp } = ledger;
    if (chainedFirst) await extendChain(driver, stamp);
    await eraseIds(driver, 4);
    await extendChain(driver, stamp);
    const whole = await verifyChain(driver, stamp);
    assert.deepEqual(
      [whole.ok, whole.erased],
      [true, 1],
      whole.reason?.code ?? "",
    );
    for (
      const sql of [
        "UPDATE events SET recorded_at = '2020-01-01T00:00:00.000Z'",
        "UPDATE events SET recorded_at = '2026-01-01T00:00:00.000Z', type = 'x'",
        "UPDATE events SET type = NULL, user_id = 'somebody'",
      ]
    ) {
      await run(driver, `${sql} WHERE position = 4`);
      const found = await verifyChain(driver, stamp);
      assert.deepEqual([found.damage, found.firstBrokenPosition], [
        "altered",
        4,
      ], sql);
    }
  }
});

Deno.test("extendChain() goes on past a body that was blanked, and verifyChain() names it", async () => {
  await using ledger = await memoryLedger(10);
  const { driver, stamp } = ledger;
  await run(
    driver,
    "UPDATE events SET body = NULL, digest = NULL, salt = NULL " +
      "WHERE position = 4",
  );
  assert.equal((await extendChain(driver, stamp)).events, 10);
  const found = await verifyChain(driver, stamp);
  assert.deepEqual([found.damage, found.firstBrokenPosition], ["altered", 4]);
  assert.deepEqual(found.reason, { code: "erasure_not_recorded" });
});

testEachDatabase(
  "eraseBody() leaves the chain whole",
  async (database, kind) => {
    const driver = await database.open();
    const stamp = await prepare(driver);
    const log = new EventLog(driver);
    await log.append(testEvents(10));
    // One before the chain has passed it, one after.
    assert.equal(await eraseBody(driver, 4), true);
    const head = await extendChain(driver, stamp);
    assert.equal(await eraseBody(driver, 7), true);
    assert.equal(await eraseBody(driver, 7), false);
    assert.equal(await eraseBody(driver, 99), false);
    const [row] = await run(
      driver,
      "SELECT order_id, body, digest, salt FROM events WHERE position = 7",
    );
    assert.deepEqual(row, ["order-6", null, null, null]);
    if (kind.name === "sqld replica") return;
    const found = await verifyChain(driver, stamp, {
      expect: { count: head.events, hash: head.hash },
    });
    assert.deepEqual(
      [found.ok, found.erased],
      [true, 2],
      found.reason?.code ?? "",
    );
    await run(driver, "UPDATE events SET type = 'x' WHERE position = 7");
    assert.equal((await verifyChain(driver, stamp)).firstBrokenPosition, 7);
  },
);

testEachDatabase(
  "a copy of a ledger in use verifies",
  async (database, kind) => {
    const driver = await database.open();
    const stamp = await prepare(driver);
    const log = new EventLog(driver);
    await log.append(testEvents(50));
    const head = await extendChain(driver, stamp);
    if (driver.copyTo === undefined) {
      assert.match(kind.name, /^(sqld|client)/);
      return;
    }
    await using directory = await temporaryFolder();
    const path = `${directory.path}/a copy #1.db`;
    const appending = Promise.all(
      testEvents(50, 50).map((event) => log.append([event])),
    );
    await driver.copyTo(path);
    await appending;
    await assert.rejects(driver.copyTo(path), /the file exists/);
    await assert.rejects(driver.copyTo(`${directory.path}/no/where.db`), /no/);
    assert.equal((await storedEvents(driver)).length, 100);
    const copy = await openDriver({
      url: `file:${encodeURI(path)}`,
      worker: false,
    });
    assert.deepEqual(await prepare(copy), stamp);
    const found = await verifyChain(copy, stamp, {
      expect: { count: head.events, hash: head.hash },
    });
    assert.equal(found.ok, true, found.reason?.code ?? "");
    await new EventLog(copy).append([testEvent(1000)]);
    await copy.close();
  },
);

Deno.test("extendChain() and verifyChain() read large bodies a few at a time", async () => {
  await using ledger = await memoryLedger(0);
  const { stamp, log } = ledger;
  const filler = "x".repeat(1 << 20);
  const of = (n: number) => ({
    id: `01J${n}`,
    receivedAt: "2026-01-01T00:00:00.000Z",
    body: new TextEncoder().encode(JSON.stringify({ type: "login", filler })),
  });
  for (let n = 0; n < 9; n++) await log.appendDelivery(of(n));
  await log.append(testEvents(5));
  let most = 0;
  const driver: Driver = {
    location: "memory",
    async batch(statements, mode) {
      const results = await ledger.driver.batch(statements, mode);
      const values = results.flatMap(({ rows }) => rows.flat());
      most = Math.max(
        most,
        ...values.map((value) =>
          value instanceof Uint8Array ? value.length : 0
        ),
      );
      return results;
    },
    close: () => Promise.resolve(),
  };
  assert.equal((await extendChain(driver, stamp)).events, 14);
  const found = await verifyChain(driver, stamp);
  assert.deepEqual([found.ok, found.chained], [true, 14]);
  assert.ok(most > 1 << 20 && most < 6 << 20, `${most} bytes at once`);
  await run(ledger.driver, "DELETE FROM events WHERE position = 7");
  const cut = await verifyChain(driver, stamp);
  assert.deepEqual([cut.firstBrokenPosition, cut.damage], [7, "removed"]);
});

for (const text of ["x'FF'", "x'EDA080'", "x'6100FF'"]) {
  Deno.test(`verifyChain() names a column that was made no text: ${text}`, async () => {
    await using ledger = await memoryLedger(5);
    const { driver, stamp } = ledger;
    await extendChain(driver, stamp);
    await run(
      driver,
      `UPDATE events SET click_id = CAST(${text} AS TEXT) WHERE position = 3`,
    );
    const found = await verifyChain(driver, stamp);
    assert.deepEqual([found.firstBrokenPosition, found.damage], [3, "altered"]);
  });
}

import assert from "node:assert/strict";
import { ledgerOn } from "../ledger_on.ts";
import type { Driver, Statement } from "../store/driver/driver.ts";
import { openDriver } from "../store/connections/open_driver.ts";
import { insertObservedChanges } from "../store/tables/polling/observed_changes.ts";
import {
  MAX_MINUTES,
  MINUTE_MS,
  type MinuteRecord,
  storeMinutes,
} from "./minute_record.ts";
import {
  quantileMs,
  readStatistics,
  type StatisticsQuery,
} from "./read_statistics.ts";
import fc from "fast-check";
import { DURATION_BOUNDS } from "../../core/telemetry/meter.ts";

const NOON_MS = Date.parse("2026-11-20T12:00:00Z");
const NOON = NOON_MS / MINUTE_MS;
const HOUR_MS = 60 * MINUTE_MS;

async function emptyLedger(): Promise<{ driver: Driver } & AsyncDisposable> {
  const driver = await openDriver({ url: ":memory:", worker: false });
  const ledger = await ledgerOn(driver, { environment: "sandbox" });
  return { driver, [Symbol.asyncDispose]: () => ledger.close() };
}

function store(driver: Driver, process: string, minutes: {
  readonly [minute: number]: Partial<MinuteRecord>;
}) {
  const none = { answers: {}, types: {}, gauges: {} };
  const records = Object.entries(minutes).map(([minute, record]) =>
    [NOON + Number(minute), { ...none, ...record }] as const
  );
  return storeMinutes(driver, process, new Map(records));
}

function query(more: Partial<StatisticsQuery> = {}): StatisticsQuery {
  return {
    fromMs: NOON_MS,
    toMs: NOON_MS + 2 * HOUR_MS,
    step: "hour",
    nowMs: NOON_MS + 2 * HOUR_MS,
    ...more,
  };
}

Deno.test("readStatistics() adds the minutes of all processes up by step, and takes the highest of a gauge", async () => {
  await using ledger = await emptyLedger();
  const { driver } = ledger;
  await store(driver, "one", {
    "-1": { types: { login: 99 } },
    0: {
      answers: { "204": [3, 1], "404": [7] },
      types: { login: 3, other: 1 },
      gauges: { lag: 5, spooled: 0 },
    },
    59: { answers: { "204": [1] }, types: { login: 1 }, gauges: { lag: 2 } },
    120: { types: { login: 99 } },
  });
  await store(driver, "two", {
    0: { answers: { "204": [0, 0, 2], late: [] }, types: { test: 2 } },
  });
  const { from, to, points } = await readStatistics(driver, query());
  assert.deepEqual([from, to], [
    "2026-11-20T12:00:00.000Z",
    "2026-11-20T14:00:00.000Z",
  ]);
  assert.deepEqual(points[0], {
    at: "2026-11-20T12:00:00.000Z",
    processes: 2,
    answers: { "204": 7, "404": 7, late: 0 },
    types: { login: 4, other: 1, test: 2 },
    received: 7,
    ordersMoved: 0,
    p50Ms: 0.88,
    p99Ms: 4.91,
    lag: 5,
    spooled: 0,
    backlogKnown: null,
    backlogUnknown: null,
    readingAgeMs: null,
  });
  assert.deepEqual(
    [points.length, points[1]?.processes, points[1]?.p50Ms],
    [2, 0, null],
  );
});

Deno.test("readStatistics() reads whole steps, and more rows than a page holds", async () => {
  await using ledger = await emptyLedger();
  const { driver } = ledger;
  const day = 24 * 60;
  for (const process of ["one", "two"]) {
    await storeMinutes(
      driver,
      process,
      new Map(Array.from({ length: 2 * day }, (_, at) => [
        NOON + at,
        { answers: {}, types: { login: 1 }, gauges: {} },
      ])),
    );
  }
  const toMs = NOON_MS + 36 * HOUR_MS + 1;
  const { points } = await readStatistics(
    driver,
    query({ fromMs: NOON_MS + 1, toMs, step: "day", nowMs: toMs }),
  );
  assert.deepEqual(points.map(({ at, received }) => [at, received]), [
    ["2026-11-20T00:00:00.000Z", day],
    ["2026-11-21T00:00:00.000Z", 2 * day],
    ["2026-11-22T00:00:00.000Z", day],
  ]);
});

Deno.test("readStatistics() counts the orders that moved by the time of the move, as long as moves are kept", async () => {
  await using ledger = await emptyLedger();
  const { driver } = ledger;
  const move = (orderId: string, minute: number) => ({
    orderId,
    status: "success",
    movedAt: new Date(NOON_MS + minute * MINUTE_MS).toISOString(),
    seenAt: new Date(NOON_MS).toISOString(),
  });
  await driver.batch(
    [insertObservedChanges([move("a", 0), move("b", 59), move("c", 60)])],
    "write",
  );
  const moved = async (more: Partial<StatisticsQuery>) =>
    (await readStatistics(driver, query(more))).points.map((point) =>
      point.ordersMoved
    );
  assert.deepEqual(await moved({}), [2, 1]);
  assert.deepEqual(
    await moved({ toMs: NOON_MS + 2 * MINUTE_MS, step: "minute" }),
    [1, 0],
  );
  assert.deepEqual(
    await moved({ nowMs: NOON_MS + 73 * HOUR_MS }),
    [null, 1],
  );
});

Deno.test("readStatistics() refuses an empty window and one of too many steps", async () => {
  await using ledger = await emptyLedger();
  const { driver } = ledger;
  const reads = (more: Partial<StatisticsQuery>) =>
    readStatistics(driver, query(more));
  await assert.rejects(reads({ toMs: NOON_MS }), /Wrong to: "2026-11-20T12/);
  await assert.rejects(
    reads({ fromMs: NOON_MS - 90 * 24 * HOUR_MS, step: "minute" }),
    /Wrong step: "minute" is not long enough: the window has 129720/,
  );
});

Deno.test("readStatistics() leaves out what it does not understand of a record", async () => {
  await using ledger = await emptyLedger();
  const { driver } = ledger;
  const odd: unknown = {
    answers: { "204": "many", "404": [2] },
    types: { login: -1, test: 3 },
    later: 1,
  };
  await storeMinutes(driver, "one", new Map([[NOON, odd as MinuteRecord]]));
  const { points } = await readStatistics(driver, query());
  assert.deepEqual(points[0]?.answers, { "404": 2 });
  assert.deepEqual(points[0]?.types, { test: 3 });
});

Deno.test("storeMinutes() replaces a minute of the same process, and deletes old ones in small steps", async () => {
  await using ledger = await emptyLedger();
  const { driver } = ledger;
  await store(driver, "one", { 0: { types: { login: 1 } } });
  await store(driver, "one", { 0: { types: { login: 2 } } });
  const { points } = await readStatistics(driver, query());
  assert.equal(points[0]?.received, 2);
  const count = async () => {
    const [found] = await driver.batch(
      [{ sql: "SELECT count(*) FROM minutes", args: [] }],
      "read",
    );
    return Number(found?.rows[0]?.[0]);
  };
  const many = Array.from({ length: 500 }, (_, at) => [at, {}]);
  await store(driver, "old", Object.fromEntries(many));
  assert.equal(await count(), 501);
  const later = (more: number) =>
    store(driver, "new", { [MAX_MINUTES + more]: {} });
  await later(1000);
  assert.equal(await count(), 302);
  await later(1001);
  await later(1002);
  assert.equal(await count(), 3);
});

Deno.test("readStatistics() and storeMinutes() search by index, and walk no table", async () => {
  await using ledger = await emptyLedger();
  const heard: Statement[] = [];
  const driver: Driver = {
    ...ledger.driver,
    location: "memory",
    batch: (statements, mode) => {
      heard.push(...statements);
      return ledger.driver.batch(statements, mode);
    },
  };
  await store(driver, "one", { 0: {} });
  await readStatistics(driver, query());
  assert.equal(heard.length, 4);
  let looked = 0;
  for (const { sql: whole, args } of heard) {
    // Of what writes, the part that looks for rows.
    const sql = whole.startsWith("SELECT")
      ? whole
      : / IN \(\s*(SELECT[\s\S]*)\)$/.exec(whole)?.[1];
    if (sql === undefined) continue;
    looked++;
    const [plan] = await ledger.driver.batch(
      [{ sql: `EXPLAIN QUERY PLAN ${sql}`, args }],
      "read",
    );
    const steps = plan?.rows.map((row) => String(row[3])) ?? [];
    assert.deepEqual(
      steps.filter((step) => /^SCAN (?!json_each)/.test(step)),
      [],
      sql,
    );
  }
  assert.equal(looked, 3);
});

Deno.test("readStatistics() by ten minutes sets what was received against what moved in the same ten", async () => {
  await using ledger = await emptyLedger();
  const { driver } = ledger;
  await store(driver, "one", {
    9: { types: { login: 1 } },
    10: { types: { login: 2 } },
    19: { types: { login: 3 } },
  });
  const moved = (minute: number) => ({
    orderId: `O${minute}`,
    status: "success",
    movedAt: new Date(NOON_MS + minute * MINUTE_MS).toISOString(),
    seenAt: new Date(NOON_MS + minute * MINUTE_MS).toISOString(),
  });
  await driver.batch(
    [insertObservedChanges([0, 9, 10, 29].map(moved))],
    "write",
  );
  const { points } = await readStatistics(
    driver,
    query({ toMs: NOON_MS + HOUR_MS / 2, step: "ten_minutes" }),
  );
  assert.deepEqual(
    points.map((point) => [
      point.at.slice(11, 16),
      point.received,
      point.ordersMoved,
    ]),
    [["12:00", 1, 2], ["12:10", 5, 1], ["12:20", 0, 1]],
  );
});

Deno.test("quantileMs() lies in the bucket that holds the share", () => {
  assert.equal(quantileMs([], 0.5), null);
  assert.equal(quantileMs([0, 0], 0.5), null);
  assert.equal(quantileMs([100], 0.5), 0.5);
  assert.equal(quantileMs([98, 0, 0, 2], 0.99), 7.5);
  const over = DURATION_BOUNDS.map(() => 0).concat(3);
  assert.equal(quantileMs(over, 0.5), 10_000);
});

Deno.test("quantileMs() does not fall as the share grows, whatever the buckets", () => {
  const buckets = fc.array(fc.nat(1000), { maxLength: 14 });
  const share = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(fc.property(buckets, share, share, (counts, a, b) => {
    const [low, high] = [Math.min(a, b), Math.max(a, b)];
    const [less, more] = [quantileMs(counts, low), quantileMs(counts, high)];
    assert.ok(less === null ? more === null : more !== null && less <= more);
  }));
});

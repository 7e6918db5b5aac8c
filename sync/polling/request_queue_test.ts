import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { ledgerOn } from "../../ledger/for_server.ts";
import { openDriver } from "../../ledger/mod.ts";
import {
  emptyLedger,
  encodeOrderFold,
  queueFinal,
  queueOpen,
  requeueOpenOrders,
  schema,
} from "../../ledger/testing/mod.ts";
import {
  deleteConfirmed,
  deleteRead,
  drawUnknown,
  type Driver,
  FOLD_VERSION,
  initialOrderFold,
  keepUp,
  markKnown,
  type QueueName,
  queueNamed,
  QUEUES,
  restUntil,
  selectKnown,
  selectOpenOrders,
  selectUpkeep,
  type Statement,
} from "../../ledger/for_sync.ts";
import { confirmRest, sweepConfirm } from "./sweep_confirm.ts";
import {
  bench,
  drain,
  rows,
  service,
  startMs,
  storeOnly,
} from "../testing/polling_test_kit.ts";
import { nextBatch } from "./request_queue.ts";
import { createPoller } from "./poller.ts";
import { moving } from "../testing/polling_test_kit.ts";
import { sweepNew } from "./sweep_new.ts";
import { RequestTurns } from "./request_turns.ts";

function at(ms: number): string {
  return new Date(startMs + ms).toISOString();
}

async function want(
  driver: Driver,
  id: string,
  { known = 0, atMs = -1000, entity = "order", urgency = 0 } = {},
) {
  await driver.batch([{
    sql: `INSERT INTO requests
        (queue, entity, entity_id, known, ready, wanted_at, due_at, urgency)
      VALUES (0, ?1, ?2, ?3, 1, ?4, ?4, ?5)
      ON CONFLICT DO UPDATE SET wanted_at = excluded.wanted_at`,
    args: [entity, id, known, startMs + atMs, urgency],
  }], "write");
}

/** Fills a queue with invented ids, due before the test begins. */
function invent(queue: QueueName, count: number): Statement {
  return {
    sql: `WITH RECURSIVE n(i) AS (
        SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
      INSERT INTO requests
        (queue, entity, entity_id, known, ready, wanted_at, due_at)
      SELECT ?3, 'order', printf('01JFORGED%017d', i), 0, 1, ?2, ?2 FROM n`,
    args: [count, startMs - 60_000, QUEUES[queue]],
  };
}

Deno.test("sweepConfirm() gives unknown ids a quarter of the requests while known ones wait", async () => {
  await using box = service();
  const driver = await storeOnly();
  await driver.batch([invent("named", 2000)], "write");
  const known = Array.from({ length: 240 }, () => box.sandbox.createOrder());
  for (const { orderId } of known) {
    await want(driver, orderId, { known: 1 });
  }
  const { context } = await bench(box, driver);
  await drain(sweepConfirm(context), box.clock, 16);
  const asked = box.asked.flatMap((url) =>
    url.searchParams.get("search_by") ?? []
  ).map((ids) => ids.includes("FORGED") ? "unknown" : "known");
  assert.equal(asked.filter((kind) => kind === "unknown").length, 4);
  assert.deepEqual(asked.slice(0, 4), ["known", "known", "known", "unknown"]);
  // 240 known ids are 12 requests.
  assert.deepEqual(
    (await rows(
      driver,
      "SELECT count(*) FROM requests WHERE known = 1",
    ))[0]?.[0],
    0,
  );
  await driver.close();
});

Deno.test("sweepConfirm() gives users that are known their turn among orders", async () => {
  await using box = service();
  const driver = await storeOnly();
  await driver.batch([invent("named", 2000)], "write");
  const user = box.sandbox.createUser();
  await want(driver, user.userId, { known: 1, entity: "user" });
  const { context } = await bench(box, driver);
  await drain(sweepConfirm(context), box.clock, 1);
  const seen = await rows(driver, "SELECT entity_id FROM observations");
  assert.equal(seen[0]?.[0], user.userId);
  await driver.close();
});

Deno.test("sweepConfirm() lets an id rest that changes nothing, twice as long each time, up to ten minutes", async () => {
  await using box = service();
  await using ledger = await emptyLedger({
    now: () => box.clock.now(),
  });
  const { orderId } = box.sandbox.createOrder();
  const { context } = await bench(box, ledger.driver);
  await drain(sweepNew(context, "order"), box.clock);
  const asks: number[] = [];
  let id = 0;
  // Short rests are looked at closely, long ones coarsely.
  let step = 1;
  for (let second = 0; second < 1900; second += step) {
    if (second >= 80) step = 5;
    await box.clock.advance(step * 1000);
    await ledger.appendDelivery({
      id: `01KB${String(id += 1).padStart(22, "0")}`,
      receivedAt: new Date(box.clock.now()).toISOString(),
      body: new TextEncoder().encode(
        JSON.stringify({ type: "payment_started", order: { id: orderId } }),
      ),
    });
    await ledger.project();
    const before = box.asked.length;
    const sweep = sweepConfirm(context, {
      once: false,
      turns: new RequestTurns(),
    });
    await drain(sweep, box.clock);
    if (box.asked.length > before) asks.push(second);
  }
  const gaps = asks.map((one, i) => one - (asks[i - 1] ?? one)).slice(1);
  const expected = [10, 20, 40, 80, 160, 320, 600, 600, 600, 600, 600];
  gaps.forEach((gap, i) => {
    const wanted = expected[i] ?? 600;
    const off = wanted < 80 ? 2 : 6;
    assert.ok(Math.abs(gap - wanted) <= off, `gap ${i} is ${gap} s: ${gaps}`);
  });
  assert.ok(gaps.length >= 8, `${gaps}`);
});

Deno.test("sweepConfirm() costs one page for an id that is also the click id of a thousand orders", async () => {
  await using box = service();
  const driver = await storeOnly();
  const clickId = "shared-click-id";
  for (let i = 0; i < 1000; i++) box.sandbox.createOrder({ clickId });
  const real = box.sandbox.createOrder();
  await want(driver, clickId);
  await want(driver, real.orderId);
  const { context } = await bench(box, driver);
  const first = await drain(sweepConfirm(context), box.clock);
  assert.ok(first <= 4, `it took ${first} requests`);
  const seen = await rows(
    driver,
    "SELECT found FROM observations WHERE entity_id = ?",
    real.orderId,
  );
  assert.equal(seen[0]?.[0], 1);
  await box.clock.advance(60_000);
  await want(driver, clickId);
  assert.equal(await drain(sweepConfirm(context), box.clock), 1);
  // What other orders crowd out is not taken for absent.
  const kinds = await rows(
    driver,
    "SELECT DISTINCT kind FROM events WHERE order_id = ?",
    clickId,
  );
  assert.deepEqual(kinds, []);
  await driver.close();
});

Deno.test("sweepConfirm() confirms an order whose id a thousand later orders borrow as click id", async () => {
  await using box = service();
  const driver = await storeOnly();
  const real = box.sandbox.createOrder();
  await box.clock.advance(5000);
  for (let i = 0; i < 1000; i++) {
    box.sandbox.createOrder({ clickId: real.orderId });
  }
  await want(driver, real.orderId);
  const { context } = await bench(box, driver);
  assert.equal(await drain(sweepConfirm(context), box.clock), 1);
  const seen = await rows(
    driver,
    "SELECT found FROM observations WHERE entity_id = ?",
    real.orderId,
  );
  assert.equal(seen[0]?.[0], 1);
  await driver.close();
});

Deno.test("markKnown() makes an id known in both queues when any sweep reads it", async () => {
  await using box = service();
  const driver = await storeOnly();
  const { orderId } = box.sandbox.createOrder();
  // Younger than the reading, so the want stays in the queue.
  await want(driver, orderId, { atMs: 1000 });
  await driver.batch([{
    sql: `INSERT INTO requests
        (queue, entity, entity_id, known, ready, wanted_at, due_at)
      VALUES (1, 'order', ?1, 0, 0, ?2, ?2)`,
    args: [orderId, startMs],
  }], "write");
  const { context } = await bench(box, driver);
  await drain(sweepNew(context, "order"), box.clock);
  const known = await rows(driver, "SELECT queue, known, ready FROM requests");
  assert.deepEqual(known.map((row) => [...row]), [[0, 1, 1], [1, 1, 1]]);
  await driver.close();
});

Deno.test("drawUnknown() draws each with the same chance, whoever came in a crowd", async () => {
  await using box = service();
  const driver = await storeOnly();
  await driver.batch([invent("named", 1000)], "write");
  await want(driver, "real", { atMs: -10 });
  let random = 0;
  const { context } = await bench(box, driver, {
    randomBytes: (length) => {
      const bytes = new Uint8Array(length);
      new DataView(bytes.buffer).setUint32(0, (random += 0x9e3779b9) >>> 0);
      return bytes;
    },
  });
  let drawn = 0;
  for (let round = 0; round < 1000; round++) {
    const batch = await nextBatch(context, {
      queue: "named",
      entities: ["order"],
      untilMs: startMs,
      turns: new RequestTurns(),
    });
    if (batch?.waiting.some(({ entityId }) => entityId === "real")) drawn++;
  }
  // 20 of 1001 in a round.
  assert.ok(drawn > 5 && drawn < 60, `drawn ${drawn} times of 1000`);
  await driver.close();
});

Deno.test("selectKnown() and the other queue statements use an index, whatever is in the queue", () => {
  const database = new DatabaseSync(":memory:");
  for (const sql of schema) database.exec(sql);
  const now = at(0);
  const answer = {
    statuses: new Map(),
    requestedAtMs: startMs,
    readAt: now,
    exhausted: true,
    denies: true,
    settled: ["a"],
    unresolved: [],
    hasRowsWithoutId: false,
    sharedIds: new Set<string>(),
    changed: new Set(["a"]),
  };
  for (const queue of ["named", "open"] as const) {
    const statements = [
      selectKnown(queue, "order", startMs, 20),
      drawUnknown(queue, "order", 0.3, 20),
      selectUpkeep(queue, startMs, true),
      ...keepUp(queue, startMs, true),
      markKnown("order", ["a"]),
      restUntil(queue, "order", [["a", startMs, 1]], startMs),
      deleteConfirmed([]),
      queueNamed([]),
      queueOpen([]),
      queueFinal([]),
      confirmRest("order", answer),
      selectOpenOrders(["a"], FOLD_VERSION),
      deleteRead("order", ["a"], startMs),
    ];
    for (const { sql, args } of statements) {
      const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`);
      const steps = plan.all(...args as string[]).map((row) =>
        String(row.detail)
      );
      const walks = steps.filter((step) =>
        /SCAN (q|o|a|orders|requests|observations|isolated_ids)\b/.test(
          step,
        ) ||
        // By the kind of entity alone it would go through all that wait.
        /\((queue|queue=\? AND entity|generation)=\?\)$/.test(step)
      );
      assert.deepEqual(walks, [], `${sql}\n${steps.join("\n")}`);
    }
  }
  database.close();
});

Deno.test("requeueOpenOrders() makes an order due since it began", async () => {
  const driver = await storeOnly();
  await driver.batch([{
    sql: `INSERT INTO orders (generation, place, order_id, status, trust, open,
        release, release_reason, sort_at, state, activity, fold)
      VALUES (3, 1, 'dated', 's', 't', 1, 'wait', 'r', ?1, '{}', '', ''),
        (3, 2, 'later', 's', 't', 1, 'wait', 'r', ?1 + 9, '{}', '', '')`,
    args: [startMs],
  }, ...requeueOpenOrders(3)], "write");
  assert.deepEqual(
    await rows(driver, "SELECT wanted_at, due_at FROM requests ORDER BY 1"),
    [[startMs, startMs], [startMs + 9, startMs + 9]],
  );
  await driver.close();
});

Deno.test("sweepConfirm() requests an id at once when its stored time is in the future", async () => {
  await using box = service();
  const driver = await storeOnly();
  const ahead = box.sandbox.createOrder();
  const far = box.sandbox.createOrder();
  await want(driver, ahead.orderId, { known: 1, atMs: 600_000 });
  await want(driver, far.orderId, { known: 1 });
  await driver.batch([{
    sql: "UPDATE requests SET due_at = ? WHERE entity_id = ?",
    args: [Date.parse("2099-01-01T00:00:00.000Z"), far.orderId],
  }], "write");
  const { context } = await bench(box, driver);
  await drain(sweepConfirm(context), box.clock);
  assert.deepEqual(await rows(driver, "SELECT * FROM requests"), []);
  await driver.close();
});

// `deno task sim --flood` invents more.
const INVENTED = 20_000;

Deno.test(`run() confirms a real order within its bound beside ${INVENTED} invented ids`, async () => {
  const folder = await Deno.makeTempDir({ prefix: "rampkit-queue-" });
  await using box = service();
  // Nothing here waits for the real world, or virtual time would run ahead.
  const driver = await openDriver({
    url: `file:${folder}/ledger.db`,
    worker: false,
  });
  const ledger = await ledgerOn(driver, {
    environment: "sandbox",
    now: () => box.clock.now(),
  });
  await ledger.project();
  const fold = initialOrderFold("ID");
  await ledger.driver.batch([
    invent("named", INVENTED),
    invent("open", INVENTED),
    {
      sql: `INSERT INTO orders (generation, place, order_id, status, trust,
          release, release_reason, open, sort_at, state, activity, fold)
        SELECT p.generation, q.seq, q.entity_id, 'created', 'claimed', 'wait',
          'not_shown', 1, ?2, '{}', '{}', replace(?1, 'ID', q.entity_id)
        FROM requests AS q, projections AS p
        WHERE p.name = 'live' AND q.queue = 1`,
      args: [encodeOrderFold(fold), startMs - 60_000],
    },
  ], "write");
  const stop = new AbortController();
  const poller = createPoller({
    ledger,
    client: box.client,
    now: () => box.clock.now(),
    sleep: (ms, signal) => box.clock.sleep(ms, signal),
    holder: "test",
  });
  const running = poller.run(stop.signal);
  // The walk through the past comes first.
  await moving(box.clock.sleep(30_000), box.clock);
  const order = box.sandbox.createOrder();
  box.sandbox.advance(order.orderId, "pay");
  await ledger.appendDelivery({
    id: "01KC0000000000000000000001",
    receivedAt: new Date(box.clock.now()).toISOString(),
    body: new TextEncoder().encode(JSON.stringify({
      type: "payment_started",
      order: { id: order.orderId },
    })),
  });
  const { staleness, backlog } = await poller.status();
  const boundMs = staleness.newOrderMs + staleness.namedByWebhookMs;
  assert.ok(boundMs < 60_000, `the bound is ${boundMs} ms`);
  assert.ok(backlog.unknown.waiting > INVENTED / 2);
  await moving(box.clock.sleep(boundMs), box.clock);
  stop.abort();
  await moving(running, box.clock);
  await ledger.project();
  const known = await ledger.orders.get(order.orderId);
  assert.equal(`${known?.status} ${known?.trust}`, "progress confirmed");
  await ledger.close();
  await Deno.remove(folder, { recursive: true });
});

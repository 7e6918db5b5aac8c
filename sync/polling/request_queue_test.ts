import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { ledgerOn } from "../../ledger/for_server.ts";
import { openDriver } from "../../ledger/mod.ts";
import { schemaFor } from "../../ledger/store/schema.ts";
import { projectAll } from "../../ledger/testing/fold_kit.ts";
import { emptyLedger } from "../../ledger/testing/mod.ts";
import {
  deleteConfirmed,
  deleteRead,
  drawUnknown,
  type Driver,
  keepUp,
  restAfterRead,
  restUntil,
  selectKnown,
} from "../../ledger/for_sync.ts";
import { nextBatch, RequestTurns, sweepConfirm } from "./sweeps.ts";
import {
  bench,
  drain,
  moving,
  named,
  queue,
  rows,
  service,
  startMs,
  storeOnly,
} from "../testing/polling_test_kit.ts";
import { createPoller } from "./poller.ts";
import { sweepNew } from "./sweep_created.ts";

function want(
  driver: Driver,
  id: string,
  { known = 0, atMs = -1000, entity = "order", urgency = 0 } = {},
): Promise<void> {
  return queue(driver, [
    { entity, id, known: known === 1, namedAtMs: startMs + atMs, urgency },
  ]);
}

/** Invented ids that wait, due before the test begins. */
function invent(
  driver: Driver,
  due: "namedAtMs" | "dueAtMs",
  count: number,
  from = 0,
): Promise<void> {
  return queue(
    driver,
    Array.from({ length: count }, (_, n) => ({
      id: `01JFORGED${String(from + n).padStart(17, "0")}`,
      [due]: startMs - 60_000,
    })),
  );
}

Deno.test("sweepConfirm() gives unknown ids a quarter of the requests while known ones wait", async () => {
  await using box = service();
  const driver = await storeOnly();
  await invent(driver, "namedAtMs", 2000);
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
      "SELECT count(*) FROM orders WHERE shown = 1 AND named_at IS NOT NULL",
    ))[0]?.[0],
    0,
  );
  await driver.close();
});

Deno.test("sweepConfirm() gives users that are known their turn among orders", async () => {
  await using box = service();
  const driver = await storeOnly();
  await invent(driver, "namedAtMs", 2000);
  const user = box.sandbox.createUser();
  await want(driver, user.userId, { known: 1, entity: "user" });
  const { context } = await bench(box, driver);
  await drain(sweepConfirm(context), box.clock, 1);
  const seen = await rows(driver, "SELECT id FROM observations");
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
      all: false,
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
    "SELECT found FROM observations WHERE id = ?",
    real.orderId,
  );
  assert.equal(seen[0]?.[0], 1);
  await box.clock.advance(60_000);
  await want(driver, clickId);
  assert.equal(await drain(sweepConfirm(context), box.clock), 1);
  // What other orders crowd out is not taken for absent.
  const kinds = await rows(
    driver,
    `SELECT DISTINCT e.kind FROM events AS e
      WHERE e.kind = 'order_absent' AND instr(e.body, ?) > 0`,
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
    "SELECT found FROM observations WHERE id = ?",
    real.orderId,
  );
  assert.equal(seen[0]?.[0], 1);
  await driver.close();
});

Deno.test("an id is known in both queues once any sweep has read it", async () => {
  await using box = service();
  const driver = await storeOnly();
  const { orderId } = box.sandbox.createOrder();
  // Younger than the reading, so the want stays in the queue.
  await named(driver, "order", orderId, startMs + 1000);
  const { context } = await bench(box, driver);
  await drain(sweepNew(context, "order"), box.clock);
  await projectAll(driver);
  const known = await rows(
    driver,
    "SELECT shown, named_at IS NOT NULL, due_at IS NOT NULL FROM orders",
  );
  assert.deepEqual(known.map((row) => [...row]), [[1, 1, 1]]);
  await driver.close();
});

Deno.test("drawUnknown() draws each with the same chance, whoever came in a crowd", async () => {
  await using box = service();
  const driver = await storeOnly();
  await invent(driver, "namedAtMs", 1000);
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
  for (const sql of schemaFor("sandbox")) database.exec(sql);
  for (const which of ["named", "open"] as const) {
    const statements = [
      selectKnown(which, "order", startMs, 20),
      drawUnknown(which, "order", { nowMs: startMs, offset: 0.3, limit: 20 }),
      ...keepUp(which, startMs),
      restUntil(which, "order", [["a", startMs, 1]]),
      deleteConfirmed("order", []),
      restAfterRead("order", {
        ids: ["a"],
        changed: ["a"],
        requestedAtMs: startMs,
        shortestMs: 10_000,
        longestMs: 600_000,
      }),
      deleteRead("order", ["a"], startMs),
    ];
    for (const { sql, args } of statements) {
      const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`);
      const steps = plan.all(...args as string[]).map((row) =>
        String(row.detail)
      );
      const walks = steps.filter((step) =>
        /SCAN (q|o|a|orders|users|observations|set_aside)\b/.test(
          step,
        ) ||
        // By the kind of entity alone it would go through all that wait.
        /\((shown|entity)=\?\)$/.test(step)
      );
      assert.deepEqual(walks, [], `${sql}\n${steps.join("\n")}`);
    }
  }
  database.close();
});

Deno.test("sweepConfirm() requests an id at once when its stored time is in the future", async () => {
  await using box = service();
  const driver = await storeOnly();
  const ahead = box.sandbox.createOrder();
  const far = box.sandbox.createOrder();
  await want(driver, ahead.orderId, { known: 1, atMs: 600_000 });
  await want(driver, far.orderId, { known: 1 });
  await driver.batch([{
    sql: "UPDATE orders SET named_at = ? WHERE id = ?",
    args: [Date.parse("2099-01-01T00:00:00.000Z"), far.orderId],
  }], "write");
  const { context } = await bench(box, driver);
  await drain(sweepConfirm(context), box.clock);
  assert.deepEqual(
    await rows(driver, "SELECT id FROM orders WHERE named_at IS NOT NULL"),
    [],
  );
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
  await invent(ledger.driver, "namedAtMs", INVENTED);
  await invent(ledger.driver, "dueAtMs", INVENTED, INVENTED);
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
  const { backlog } = await poller.status();
  assert.ok(backlog.unknown.waiting > INVENTED / 2);
  await moving(box.clock.sleep(60_000), box.clock);
  stop.abort();
  await moving(running, box.clock);
  await ledger.project();
  const known = await ledger.orders.get(order.orderId);
  assert.equal(`${known?.status} ${known?.trust}`, "progress confirmed");
  await ledger.close();
  await Deno.remove(folder, { recursive: true });
});

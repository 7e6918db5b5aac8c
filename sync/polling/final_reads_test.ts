import assert from "node:assert/strict";
import { emptyLedger, FINAL_READS_AFTER_MS } from "../../ledger/testing/mod.ts";
import { nextFinalReadMs } from "../../ledger/for_sync.ts";
import { bench, drain, rows, service } from "../testing/polling_test_kit.ts";
import { sweepNew } from "./sweep_created.ts";
import { sweepOpen } from "./sweeps.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

async function setUp() {
  const box = service();
  const ledger = await emptyLedger({
    now: () => box.clock.now(),
  });
  const { context } = await bench(box, ledger.driver);
  return { box, ledger, context };
}

Deno.test("sweepOpen() reads an order again 10 min, 1 h, 6 h, 1 day and 3 days after it became final, then no more", async () => {
  const { box, ledger, context } = await setUp();
  const { orderId } = box.sandbox.createOrder();
  for (const step of ["pay", "authorise", "complete"] as const) {
    box.sandbox.advance(orderId, step);
  }
  await drain(sweepNew(context, "order"), box.clock);
  await ledger.project();
  const beganMs = box.clock.now();
  const asks: number[] = [];
  while (box.clock.now() < beganMs + 4 * day) {
    // The first reads come soon, the others after hours.
    await box.clock.advance(
      box.clock.now() < beganMs + 2 * hour ? minute : 10 * minute,
    );
    const sweep = sweepOpen(context, { all: false });
    if (await drain(sweep, box.clock) > 0) {
      asks.push(box.clock.now() - beganMs);
      await ledger.project();
    }
  }
  assert.equal(asks.length, FINAL_READS_AFTER_MS.length, `${asks}`);
  asks.forEach((ms, i) => {
    const wanted = FINAL_READS_AFTER_MS[i] ?? 0;
    const off = wanted < 2 * hour ? 2 * minute : 11 * minute;
    assert.ok(Math.abs(ms - wanted) <= off, `${ms}, not ${wanted}`);
  });
  const left = await rows(
    ledger.driver,
    "SELECT id FROM orders WHERE due_at IS NOT NULL",
  );
  assert.deepEqual(left, []);
  await ledger.close();
  await box[Symbol.asyncDispose]();
});

Deno.test("sweepOpen() finds a payment that was taken back within the hour, without any webhook", async () => {
  const { box, ledger, context } = await setUp();
  const { orderId } = box.sandbox.createOrder();
  for (const step of ["pay", "authorise", "complete"] as const) {
    box.sandbox.advance(orderId, step);
  }
  await drain(sweepNew(context, "order"), box.clock);
  await ledger.project();
  assert.equal((await ledger.orders.get(orderId))?.status, "success");
  await box.clock.advance(20 * minute);
  await drain(sweepOpen(context, { all: false }), box.clock);
  await box.clock.advance(5 * minute);
  box.sandbox.amendOrder(orderId, { status: "cancelled" });
  await box.clock.advance(40 * minute);
  await drain(sweepOpen(context, { all: false }), box.clock);
  await ledger.project();
  assert.equal((await ledger.orders.get(orderId))?.status, "cancelled");
  await ledger.close();
  await box[Symbol.asyncDispose]();
});

Deno.test("sweepOpen() does not read an old final order again after its first reading", async () => {
  const { box, ledger, context } = await setUp();
  box.sandbox.backfill({
    orders: 20,
    fromMs: box.clock.now() - 100 * day,
    untilMs: box.clock.now() - 10 * day,
  });
  await drain(sweepNew(context, "order"), box.clock);
  await ledger.project();
  const queued = await rows(
    ledger.driver,
    "SELECT count(*) FROM orders WHERE due_at IS NOT NULL AND open = 0",
  );
  assert.equal(queued[0]?.[0], 0);
  await ledger.close();
  await box[Symbol.asyncDispose]();
});

Deno.test("nextFinalReadMs() gives the next of five times, and an end", () => {
  assert.equal(nextFinalReadMs(0, 0), 10 * minute);
  assert.equal(nextFinalReadMs(0, 10 * minute), 60 * minute);
  assert.equal(nextFinalReadMs(0, 2 * day), 3 * day);
  assert.equal(nextFinalReadMs(0, 3 * day), null);
});

import assert from "node:assert/strict";
import { bench, drain, service } from "../testing/polling_test_kit.ts";
import { countOpenQueue } from "../../ledger/for_sync.ts";
import { sweepNew } from "./sweep_created.ts";
import { sweepOpen } from "./sweeps.ts";
import { emptyLedger } from "../../ledger/testing/mod.ts";

const minute = 60_000;

Deno.test("sweepOpen() asks the less often the longer an order has been still", async () => {
  await using box = service();
  await using ledger = await emptyLedger({
    now: () => box.clock.now(),
  });
  box.sandbox.createOrder();
  const { context } = await bench(box, ledger.driver);
  await drain(sweepNew(context, "order"), box.clock);
  await ledger.project();
  const asks: number[] = [];
  for (let minutes = 0; minutes < 240; minutes++) {
    await box.clock.advance(minute);
    const sweep = sweepOpen(context, { all: false });
    const requests = await drain(sweep, box.clock);
    if (requests > 0) asks.push(minutes);
  }
  const gaps = asks.map((at, i) => at - (asks[i - 1] ?? -1)).slice(1);
  assert.ok(asks.length < 40, `${asks.length} asks in four hours`);
  assert.equal(gaps[0], 1);
  assert.ok((gaps.at(-1) ?? 0) >= 20);
  assert.deepEqual(gaps, gaps.toSorted((a, b) => a - b));
});

Deno.test("sweepOpen() asks for each open order once, and for no final one", async () => {
  await using box = service();
  await using ledger = await emptyLedger({
    now: () => box.clock.now(),
  });
  const { sandbox } = box;
  for (let i = 0; i < 33; i++) {
    const { orderId } = sandbox.createOrder();
    if (i % 3 === 0) sandbox.advance(orderId, "fail");
  }
  const { context, read } = await bench(box, ledger.driver);
  await drain(sweepNew(context, "order"), box.clock);
  await ledger.project();
  const [open] = await ledger.driver.batch([countOpenQueue], "read");
  assert.equal(open?.rows[0]?.[0], 22);
  const before = read.orders;
  await drain(sweepOpen(context, { all: true }), box.clock);
  assert.equal(read.orders - before, 22);
});

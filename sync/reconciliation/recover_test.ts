import assert from "node:assert/strict";
import type { Ledger } from "../../ledger/mod.ts";
import { takeLease } from "../../ledger/for_sync.ts";
import {
  countingBytes,
  ledgerFor,
  moving,
  pollOnce,
  type Service,
  service,
  startMs,
} from "../testing/polling_test_kit.ts";
import { recover, type RecoverOptions, type RecoverReport } from "./recover.ts";

const day = 24 * 3_600_000;
const hour = 3_600_000;

function recovered(
  { clock, client }: Service,
  ledger: Ledger,
  fromMs: number,
  changes: Partial<RecoverOptions> = {},
): Promise<RecoverReport> {
  return moving(
    recover({
      ledger,
      client,
      fromMs,
      now: () => clock.now(),
      randomBytes: countingBytes(),
      ...changes,
    }),
    clock,
  );
}

Deno.test("recover() reads an outage again and ends in the proof", async () => {
  await using box = service();
  await using ledger = await ledgerFor(box);
  const { sandbox, clock } = box;
  sandbox.backfill({
    orders: 20,
    fromMs: startMs - 90 * day,
    untilMs: startMs - day,
  });
  const before = sandbox.createOrder();
  await pollOnce(box, ledger);
  const fromMs = clock.now();
  await clock.advance(hour);
  sandbox.advance(before.orderId, "pay");
  sandbox.advance(before.orderId, "complete");
  const during = Array.from({ length: 45 }, () => sandbox.createOrder());
  await clock.advance(hour);
  const report = await recovered(box, ledger, fromMs);
  assert.deepEqual([report.complete, report.why], [true, null]);
  assert.ok(report.orders >= 46);
  assert.equal((await ledger.orders.get(before.orderId))?.status, "success");
  for (const { orderId } of during) {
    assert.equal((await ledger.orders.get(orderId))?.trust, "confirmed");
  }
  assert.equal((await ledger.stats()).lag, 0);
  const again = await recovered(box, ledger, fromMs);
  assert.equal(again.appended, 0);
});

Deno.test("recover() runs beside a poller that holds the lease", async () => {
  await using box = service();
  await using ledger = await ledgerFor(box);
  await takeLease(ledger.driver, {
    name: "poll",
    holder: "poller",
    leaseMs: 60_000,
  });
  box.sandbox.createOrder();
  const report = await recovered(box, ledger, startMs - hour);
  assert.equal(report.orders > 0, true);
  assert.equal((await ledger.stats()).orders, 1);
});

Deno.test("recover() reads up to now and says up to where that is proven", async () => {
  await using box = service();
  await using ledger = await ledgerFor(box);
  box.sandbox.createOrder();
  const report = await recovered(box, ledger, startMs - hour);
  assert.equal(report.complete, true);
  assert.equal(report.provenUpTo, new Date(startMs - 60_000).toISOString());
  assert.equal((await ledger.stats()).orders, 1);
});

Deno.test("recover() refuses a window that ends before it starts", async () => {
  await using box = service();
  await using ledger = await ledgerFor(box);
  await assert.rejects(
    recovered(box, ledger, startMs, { toMs: startMs - 1 }),
    RangeError,
  );
});

Deno.test("recover() tells nobody of what had ended before it, on a ledger that nothing worked on before", async () => {
  await using box = service();
  await using ledger = await ledgerFor(box);
  box.sandbox.backfill({
    orders: 20,
    fromMs: startMs - 5 * day,
    untilMs: startMs - day,
  });
  const told: string[] = [];
  await using subscription = await ledger.subscribe("handler", {
    on: "*",
    from: "start",
    start: false,
  }, ({ key }) => {
    told.push(key);
  });
  const { orders } = await recovered(box, ledger, startMs - 6 * day);
  await subscription.dispatch();
  assert.ok(orders >= 20);
  assert.deepEqual(told, []);
});

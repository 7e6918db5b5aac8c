import assert from "node:assert/strict";
import type { Faults } from "../../sandbox/mod.ts";
import {
  ledgerFor,
  moving,
  pollOnce,
  service,
  startMs,
} from "../testing/polling_test_kit.ts";
import { reconcile } from "../reconciliation/reconcile.ts";

const hour = 3_600_000;

/** Orders that a poller takes in from a service in its earlier form. */
async function takenIn(
  orders: number,
  faults: Partial<Faults>,
): Promise<{ stored: number; complete: boolean; differences: number }> {
  await using box = service({ orderForm: "earlier", faults });
  const { clock, client, sandbox } = box;
  sandbox.backfill({
    orders,
    fromMs: startMs - 24 * hour,
    untilMs: startMs - hour,
  });
  await using ledger = await ledgerFor(box);
  const report = await pollOnce(box, ledger);
  for await (const order of ledger.orders.list()) {
    assert.equal(order.status, sandbox.order(order.orderId)?.status);
    assert.equal(order.trust, "confirmed");
    assert.deepEqual(order.anomalies, []);
  }
  const { disagreements } = await moving(
    reconcile({ ledger, client, now: () => clock.now() }),
    clock,
  );
  return {
    stored: (await ledger.stats()).orders,
    complete: report.status.orders.complete,
    differences: disagreements,
  };
}

for (const orders of [45, 100, 450]) {
  Deno.test(`once() takes in all ${orders} orders of a service without cursors, with proof`, async () => {
    assert.deepEqual(await takenIn(orders, {}), {
      stored: orders,
      complete: true,
      differences: 0,
    });
  });
}

Deno.test("once() takes in all orders of a service without cursors whose pages are short and totals wrong", async () => {
  const faults = { pageShort: 0.3, totalWrong: 0.2, totalMissing: 0.2 };
  const { stored, differences } = await takenIn(100, faults);
  assert.deepEqual([stored, differences], [100, 0]);
});

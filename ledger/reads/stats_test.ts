import assert from "node:assert/strict";
import {
  at,
  orderRead,
  orderWebhook,
  webhook,
} from "../testing/projection_test_kit.ts";
import { openLedger } from "../open_ledger.ts";
import { readStats, tallyOrders } from "./stats.ts";

Deno.test("tallyOrders() counts orders by status, the open ones by age, and anomalies", async () => {
  await using ledger = await openLedger({
    url: ":memory:",
    environment: "sandbox",
  });
  const { driver } = ledger;
  const none = await tallyOrders(driver);
  assert.deepEqual([...none.byStatus, ...none.open, ...none.byAnomaly], []);
  const events = [
    orderRead(1, { orderId: "A", status: "pending", created: 0 }),
    orderRead(5, { orderId: "B", status: "pending", created: 4 }),
    orderRead(6, { orderId: "C", status: "on hold", created: 5 }),
    // A success without a transaction is odd, and final.
    orderRead(7, { orderId: "D", status: "success", created: 6 }),
    orderWebhook("W1", 8, { type: "order_failed", orderId: "E" }),
  ];
  await ledger.append(events);
  await ledger.project();
  const { byStatus, open, byAnomaly } = await tallyOrders(driver);
  assert.deepEqual(
    Object.fromEntries(byStatus),
    { pending: 2, "on hold": 1, success: 1, failed: 1 },
  );
  assert.deepEqual(
    open.map(({ status, trust, count }) => [status, trust, count]).sort(),
    [
      ["failed", "claimed", 1],
      ["on hold", "confirmed", 1],
      ["pending", "confirmed", 2],
    ],
  );
  const pending = open.find(({ status }) => status === "pending");
  assert.equal(pending?.oldestAt, at(0));
  assert.equal(byAnomaly.get("success_without_transaction"), 1);
  // What waits to be folded is counted as well.
  await ledger.append([webhook("W2", 9, "no object")]);
  const { events: byKind, ...stats } = await readStats(driver);
  assert.deepEqual([byKind.webhook, byKind.order_snapshot], [2, 4]);
  assert.deepEqual(stats, {
    ...{ quarantined: 0, orders: 5, users: 0, position: 6, lag: 1 },
  });
  await ledger.project();
  const { quarantined, lag } = await readStats(driver);
  assert.deepEqual([quarantined, lag], [1, 0]);
});

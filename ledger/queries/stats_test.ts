import assert from "node:assert/strict";
import { Projector } from "../projection/projector.ts";
import { appendStatement } from "../store/tables/events/append.ts";
import {
  at,
  emptyStore,
  orderRead,
  orderWebhook,
} from "../testing/projection_test_kit.ts";
import { tallyOrders } from "./stats.ts";

Deno.test("tallyOrders() counts orders by status, the open ones by age, and anomalies", async () => {
  const driver = await emptyStore();
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
  await driver.batch([appendStatement(events)], "write");
  const projector = new Projector({ driver, assets: "sandbox" });
  while ((await projector.step("live")).events > 0);
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
  await driver.close();
});

import assert from "node:assert/strict";
import { OUTCOME_TABLE } from "../outcomes/outcome_table.ts";
import {
  at,
  emptyStore,
  orderRead,
  orderWebhook,
  session,
} from "../testing/projection_test_kit.ts";
import { record } from "../testing/subscription_test_kit.ts";
import { type OrderQuery, Orders, type OrderView } from "./orders.ts";

Deno.test("Orders.list() gives exactly the orders of a release and a reason, in order, page by page", async () => {
  const driver = await emptyStore();
  const paid = (orderId: string, click: string | null, created: number) =>
    orderRead(20, { orderId, status: "success", tx: "0xT", click, created });
  await record(
    driver,
    session(0, "S1", "C1", "10", "basket-1"),
    session(0, "S2", "C2", "10", "basket-1"),
    session(0, "S3", "C3", "10", "basket-3"),
    session(0, "S4", "C3", "10", "basket-4"),
    paid("O1", "C1", 1),
    orderRead(20, { orderId: "O3", status: "pending", created: 3 }),
    paid("O5", null, 5),
    paid("O6", "C3", 6),
    orderRead(20, { orderId: "O7", status: "failed", created: 7 }),
    paid("O8", "C1", 8),
    orderRead(21, { orderId: "O8", status: "failed", changed: 21, created: 8 }),
    orderWebhook("W9", 9, { type: "order_complete", orderId: "O9" }),
    paid("OA", "C3", 10),
    orderRead(22, { orderId: "OB", status: "failed", created: 11 }),
    orderRead(23, { orderId: "OB", status: "pending", created: 11 }),
  );
  // Its basket is taken, so it waits, and is stored as a yes.
  await record(driver, paid("O2", "C2", 2), paid("O4", "C2", 4));
  const orders = new Orders(driver);
  const all = await Array.fromAsync(orders.list({ sort: "oldest" }));
  const said = (order: OrderView) => `${order.release} ${order.releaseReason}`;
  const pairs = new Set(all.map(said));
  for (
    const pair of [
      "yes session_matched",
      "wait paid_twice",
      "wait several_match",
      "wait not_shown",
      "unchecked nothing_recorded",
      "no final_changed",
      "wait final_changed",
    ]
  ) assert.ok(pairs.has(pair), `${pair}: ${[...pairs]}`);
  const releases = [undefined, "yes", "no", "wait", "unchecked"] as const;
  const reasons = [undefined, ...OUTCOME_TABLE.map(({ reason }) => reason)];
  for (const release of releases) {
    for (const releaseReason of new Set(reasons)) {
      for (const sort of ["oldest", "newest"] as const) {
        const query: OrderQuery = {
          ...{ sort, limit: 2, createdAfter: at(1) },
          ...(release && { release }),
          ...(releaseReason && { releaseReason }),
        };
        const wanted = all.filter((order) =>
          order.orderId !== "O1" &&
          (release === undefined || order.release === release) &&
          (releaseReason === undefined || order.releaseReason === releaseReason)
        ).map(({ orderId }) => orderId);
        const found = await Array.fromAsync(orders.list(query));
        assert.deepEqual(
          found.map(({ orderId }) => orderId),
          sort === "oldest" ? wanted : wanted.toReversed(),
          JSON.stringify(query),
        );
      }
    }
  }
  await driver.close();
});

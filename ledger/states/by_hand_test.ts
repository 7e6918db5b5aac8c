import assert from "node:assert/strict";
import { orderRead, session } from "../testing/projection_test_kit.ts";
import { emptyLedger } from "../testing/empty_ledger.ts";

const NOW = "2026-11-20T09:00:00.000Z";
const ADA = { by: "Ada", why: "paid at the counter" } as const;

/** Orders that wait, each with why. */
async function opened() {
  const ledger = await emptyLedger({
    now: () => Date.parse(NOW),
  });
  const paid = { status: "success", tx: "0xT", created: 2 };
  await ledger.append([
    session(0, "S1", "C1", "10", "basket-1"),
    session(0, "S9", "C9", "900", "basket-9"),
    orderRead(5, { ...paid, orderId: "FIRST", click: "C1" }),
    orderRead(6, { ...paid, orderId: "TWICE", click: "C1" }),
    orderRead(6, { ...paid, orderId: "AGAIN", click: "C1" }),
    orderRead(6, { ...paid, orderId: "CHEAP", click: "C9" }),
    orderRead(6, { ...paid, orderId: "BARE" }),
    orderRead(6, { orderId: "ENDED", status: "cancelled" }),
    orderRead(6, { ...paid, orderId: "BACK", click: "C9" }),
    orderRead(7, { orderId: "BACK", status: "failed", click: "C9" }),
  ]);
  await ledger.project();
  const listed = async () => {
    const lines: string[] = [];
    for await (const { kinds, order } of ledger.attention()) {
      lines.push(`${order.orderId} ${kinds.join(" ")}`);
    }
    return lines.toSorted();
  };
  return { ledger, listed, [Symbol.asyncDispose]: () => ledger.close() };
}

Deno.test("Ledger.attention() leaves out what a person has settled, and lists what is left to do", async () => {
  await using world = await opened();
  const { ledger, listed } = world;
  assert.deepEqual(await listed(), [
    "AGAIN paid_twice",
    "BACK reversed_after_success",
    "BARE not_comparable",
    "CHEAP not_as_requested",
    "ENDED cancelled_after_payment",
    "TWICE paid_twice",
  ]);
  const confirmed = { ...ADA, confirmed: true, newReference: true };
  const delivered = { ...confirmed, outcome: "delivered" } as const;
  const refunded = { ...confirmed, outcome: "refunded" } as const;
  await ledger.release("TWICE", { ...delivered, for: "basket-1b" });
  await ledger.release("AGAIN", refunded);
  await ledger.release("BARE", { ...delivered, for: "basket-2" });
  await ledger.release("CHEAP", { ...delivered, for: "basket-3" });
  await ledger.release("BACK", refunded);
  await ledger.release("ENDED", { ...delivered, for: "basket-4" });
  await ledger.project();
  assert.deepEqual(await listed(), [
    "BACK reversed_after_success",
    // Goods were handed out for it, and the service has the money.
    "ENDED cancelled_after_payment",
  ]);
  for (const kind of ["paid_twice", "not_comparable"] as const) {
    const found = await Array.fromAsync(ledger.orders.list({
      attention: kind,
    }));
    assert.deepEqual(found, [], kind);
  }
  const order = await ledger.orders.get("CHEAP");
  assert.deepEqual(order?.byHand, {
    outcome: "delivered",
    at: NOW,
    seen: true,
    settled: ["not_as_requested"],
  });
  await ledger.refold();
  assert.equal((await listed()).length, 2, "folded again");
});

Deno.test("Ledger.attention() lists an order again that the service moves after a person settled it", async () => {
  await using world = await opened();
  const { ledger, listed } = world;
  await ledger.release("BARE", {
    ...{ ...ADA, outcome: "delivered", for: "b", newReference: true },
  });
  await ledger.project();
  assert.ok(!(await listed()).some((line) => line.startsWith("BARE")));
  await ledger.append([
    orderRead(90, { orderId: "BARE", status: "failed", changed: 80 }),
  ]);
  await ledger.project();
  assert.ok((await listed()).includes("BARE reversed_after_success"));
});

import assert from "node:assert/strict";
import type { NewEvent, RecordedEvent } from "../events/event.ts";
import { foldOrder } from "../explain/as_of.ts";
import { openLedger } from "../mod.ts";
import {
  absentRead,
  at,
  contradiction,
  facts,
  ORDER,
  orderRead,
  orderWebhook,
  serviceTime,
} from "../orders/given_test.ts";
import { orderState } from "../orders/state_of_order.ts";
import { attentionOf, STUCK_AFTER_MS } from "./attention.ts";

function kinds(nowMinute: number, ...events: RecordedEvent[]): string {
  const state = orderState(foldOrder(ORDER, facts(...events)));
  return attentionOf(state, Date.parse(at(nowMinute))).join(" ");
}

const sent = { tx_id: "0xT1" };

Deno.test.each([
  ["refund_due", [orderRead(2, "failed", 2, { fail_reason: "4016" })]],
  ["amount_mismatch", [orderRead(2, "failed", 2, { fail_reason: "4017" })]],
  ["amount_mismatch", [
    orderWebhook(1, "payment_started", { quote_amount: "99" }),
    orderRead(2, "success", 2, sent),
  ]],
  ["cancelled_after_payment", [orderRead(2, "cancelled", 2)]],
  ["", [orderRead(2, "cancelled", 2, { fail_reason: "4018" })]],
  ["sent_without_success cancelled_after_payment", [
    orderRead(2, "cancelled", 2, sent),
  ]],
  ["success_without_transaction", [orderRead(2, "success", 2)]],
  ["reversed_after_success cancelled_after_payment", [
    orderRead(2, "success", 2, sent),
    orderRead(4, "cancelled", 4),
  ]],
  ["final_changed", [
    orderRead(2, "failed", 2),
    orderRead(4, "success", 4, sent),
  ]],
  ["forged_or_unknown", [
    orderWebhook(1, "order_complete"),
    absentRead(12),
    contradiction("success", 2),
  ]],
  ["forged_or_unknown", [orderRead(1, "success", 1, sent), absentRead(5)]],
  ["", [orderWebhook(1, "order_complete"), absentRead(2)]],
  ["", [orderRead(2, "success", 2, sent)]],
  ["", [orderRead(2, "failed", 2, { fail_reason: "4001" })]],
] as [string, RecordedEvent[]][])("attentionOf() says: %s", (said, events) => {
  assert.equal(kinds(20, ...events), said);
});

Deno.test("attentionOf() calls an order stuck that is paid and unchanged for an hour", () => {
  const paid = orderRead(2, "pending", 2);
  assert.equal(kinds(61, paid), "");
  assert.equal(kinds(62, paid), "stuck");
  const begun = orderRead(2, "progress", 2);
  assert.equal(kinds(90, begun), "");
  assert.equal(kinds(90, begun, orderWebhook(3, "transfer_started")), "stuck");
  assert.equal(
    kinds(90, orderWebhook(3, "transfer_started")),
    "",
    "a webhook alone is no payment",
  );
});

Deno.test("Ledger.attention() lists each order once, the gravest first, then the oldest", async () => {
  const nowMs = Date.parse(at(0)) + STUCK_AFTER_MS + 10 * 60_000;
  await using ledger = await openLedger({
    url: ":memory:",
    environment: "sandbox",
    now: () => nowMs,
  });
  const read = (id: string, created: number, status: string, more = {}) => {
    const event = orderRead(9, status, created + 1, {
      order_id: id,
      created_at: serviceTime(created),
      ...more,
    });
    return event as NewEvent & typeof event;
  };
  await ledger.append([
    read("O1", 1, "cancelled"),
    read("O2", 3, "failed", { fail_reason: "4016" }),
    read("O3", 2, "failed", { fail_reason: "4016" }),
    read("O4", 4, "pending"),
    read("O5", 5, "success", sent),
    read("O6", 6, "cancelled", { fail_reason: "4016" }),
  ]);
  await ledger.project();
  const listed: string[] = [];
  for await (const { kinds, order } of ledger.attention()) {
    listed.push(`${order.orderId} ${kinds.join(" ")}`);
  }
  assert.deepEqual(listed, [
    "O3 refund_due",
    "O2 refund_due",
    "O6 refund_due cancelled_after_payment",
    "O1 cancelled_after_payment",
    "O4 stuck",
  ]);
  const cancelled: string[] = [];
  for await (const { order } of ledger.attention("cancelled_after_payment")) {
    cancelled.push(order.orderId);
  }
  assert.deepEqual(cancelled, ["O1", "O6"]);
  const query = { attention: "stuck", stuckAtMs: nowMs } as const;
  for await (const { orderId } of ledger.orders.list(query)) {
    assert.equal(orderId, "O4");
  }
});

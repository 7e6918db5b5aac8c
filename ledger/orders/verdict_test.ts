import assert from "node:assert/strict";
import { foldOrder } from "../explain/as_of.ts";
import type { RecordedEvent } from "../events/event.ts";
import {
  absentRead,
  contradiction,
  facts,
  ORDER,
  orderRead,
  orderWebhook,
  session,
} from "./given_test.ts";
import { orderState } from "./state_of_order.ts";
import { verdictOf } from "./verdict.ts";

function verdict(...events: RecordedEvent[]) {
  return verdictOf(orderState(foldOrder(ORDER, facts(...events))));
}

const claim = orderWebhook(1, "order_complete");
const sent = { tx_id: "0xT1" };

Deno.test.each([
  ["nothing_known", [orderWebhook(1, "brewed")]],
  ["not_confirmed", [claim]],
  ["not_confirmed", [claim, orderRead(2, "pending", 1)]],
  ["not_shown_yet", [claim, absentRead(2)]],
  ["unknown_to_service", [claim, absentRead(12), contradiction("success", 2)]],
  ["no_longer_shown", [orderRead(1, "success", 1, sent), absentRead(5)]],
  ["unrecognised_status", [orderRead(1, "paused", 1)]],
  ["without_status", [orderRead(1, "", 1)]],
  ["claim_rejected", [
    claim,
    orderRead(2, "pending", 1),
    contradiction("success", 2),
  ]],
  ["created", [orderRead(1, "created", 1)]],
  ["progress", [orderRead(1, "progress", 1)]],
  ["pending", [orderRead(1, "pending", 1)]],
  ["succeeded", [claim, orderRead(2, "success", 2, sent)]],
  ["success_without_transaction", [orderRead(2, "success", 2)]],
  ["success_not_as_requested", [
    session(0, { currency: "USD", currency_amount: "99" }),
    orderRead(2, "success", 2, sent),
  ]],
  ["failed", [orderRead(2, "failed", 2, { fail_reason: "4001" })]],
  ["refund_due", [orderRead(2, "failed", 2, { fail_reason: "4016" })]],
  ["cancelled_by_customer", [
    orderRead(2, "cancelled", 2, { fail_reason: "4018" }),
  ]],
  ["cancelled_after_payment", [orderRead(2, "cancelled", 2)]],
  ["sent_without_success", [orderRead(2, "cancelled", 2, sent)]],
  ["final_changed", [
    orderRead(2, "success", 2, sent),
    orderRead(4, "cancelled", 4, sent),
  ]],
  ["final_changed", [
    orderRead(2, "success", 2, sent),
    orderRead(4, "pending", 4),
  ]],
] as [string, RecordedEvent[]][])("verdictOf() says %s", (code, events) => {
  assert.equal(verdict(...events).code, code);
});

Deno.test("verdictOf() holds what the sentence is about", () => {
  assert.deepEqual(verdict(claim, orderRead(2, "pending", 1)), {
    code: "not_confirmed",
    claimed: "success",
    read: "pending",
  });
  assert.deepEqual(
    verdict(
      orderWebhook(1, "order_complete", { transaction_id: "0xF" }),
      orderRead(2, "failed", 2, { fail_reason: "4001" }),
    ),
    { code: "failed", failReason: "4001", claimedTxId: "0xF" },
    "what a webhook alone says was sent is not said to be sent",
  );
  assert.deepEqual(
    verdict(
      session(0, { currency: "USD", currency_amount: "99" }),
      orderRead(2, "success", 2, sent),
    ),
    { code: "success_not_as_requested", fields: ["currencyAmount"] },
  );
  assert.deepEqual(
    verdict(
      orderRead(2, "failed", 2),
      orderRead(4, "success", 4, sent),
    ),
    {
      code: "final_changed",
      read: "success",
      before: ["failed"],
      txId: "0xT1",
    },
  );
});

Deno.test("verdictOf() says success only of an order that may be released or lacks a transaction", () => {
  const forged = verdict(
    claim,
    orderWebhook(2, "transfer_started", { transaction_id: "0xF" }),
  );
  assert.equal(forged.code, "not_confirmed");
});

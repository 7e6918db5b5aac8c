import assert from "node:assert/strict";
import type { RecordedEvent } from "../events/event.ts";
import { foldOrder } from "../explain/as_of.ts";
import {
  absentRead,
  facts,
  handRelease,
  ORDER,
  orderRead,
  orderWebhook,
  session,
  TX,
} from "../testing/given_facts.ts";
import { orderState } from "../states/state_of_order.ts";

const priced = (currency_amount: string) =>
  session(0, { currency: "USD", currency_amount });
const sent = { tx_id: TX };
const delivered = handRelease(10, "delivered", "basket-1");
const refunded = handRelease(10, "refunded");

/** What is left, and what was settled. */
function after(...events: RecordedEvent[]): string {
  const { attention, byHand } = orderState(
    foldOrder(ORDER, facts(...events)),
  );
  return `${attention.join(" ")} | ${byHand?.settled.join(" ") ?? "nobody"}`;
}

Deno.test.each([
  // Of a success the release was to be decided, and is.
  [[orderRead(5, "success", 5, sent)], "not_comparable", true, true],
  [
    [priced("900"), orderRead(5, "success", 5, sent)],
    "not_as_requested",
    true,
    true,
  ],
  [
    [
      priced("30"),
      orderRead(5, "success", 5, { ...sent, fail_reason: "4016" }),
    ],
    "refund_due",
    true,
    true,
  ],
  [
    [priced("30"), orderRead(5, "success", 5)],
    "success_without_transaction",
    true,
    true,
  ],
  // Of an end the customer is to have the money back.
  [
    [orderRead(5, "failed", 5, { fail_reason: "4016" })],
    "refund_due",
    false,
    true,
  ],
  [
    [orderRead(5, "failed", 5, { fail_reason: "4017" })],
    "amount_mismatch",
    false,
    true,
  ],
  [[orderRead(5, "cancelled", 5)], "cancelled_after_payment", false, true],
  // What somebody has to clear up whoever has goods or money.
  [
    [orderRead(5, "failed", 5, sent)],
    "sent_without_success",
    false,
    false,
  ],
  [
    [
      priced("30"),
      orderRead(4, "success", 4, sent),
      orderRead(5, "failed", 5),
    ],
    "reversed_after_success",
    false,
    false,
  ],
  [
    [priced("30"), orderRead(4, "success", 4, sent), absentRead(5)],
    "no_longer_shown",
    false,
    false,
  ],
  [[orderRead(5, "on_hold", 5)], "unknown_status", false, false],
] as [RecordedEvent[], string, boolean, boolean][])(
  "byHandOf() settles what is decided, and nothing else: %#",
  (events, kind, byDelivery, byRefund) => {
    assert.equal(after(...events), `${kind} | nobody`);
    const left = (isSettled: boolean) =>
      isSettled ? ` | ${kind}` : `${kind} | `;
    assert.equal(after(...events, delivered), left(byDelivery), "delivered");
    assert.equal(after(...events, refunded), left(byRefund), "refunded");
  },
);

Deno.test("byHandOf() settles nothing that the service showed only afterwards", () => {
  const unread = orderWebhook(1, "payment_started");
  const other = priced("900");
  assert.equal(
    after(unread, other, delivered, orderRead(20, "success", 5, sent)),
    "not_as_requested | ",
    "nobody could know it",
  );
  const pending = orderRead(5, "pending", 5);
  assert.equal(
    after(pending, refunded, orderRead(20, "cancelled", 15)),
    "cancelled_after_payment | ",
    "the service may refund as well",
  );
  assert.equal(
    after(
      priced("30"),
      orderRead(5, "success", 5, sent),
      delivered,
      orderRead(20, "failed", 15, sent),
    ),
    "reversed_after_success sent_without_success | ",
  );
});

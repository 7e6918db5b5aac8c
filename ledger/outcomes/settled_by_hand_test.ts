import assert from "node:assert/strict";
import type { RecordedEvent } from "../events/event.ts";
import { foldOrder } from "../testing/fold_order.ts";
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
import { orderState } from "../states/order_state.ts";

const priced = (currency_amount: string) =>
  session(0, { currency: "USD", currency_amount });
const sent = { tx_id: TX };
const delivered = handRelease(10, "delivered", "basket-1");
const refunded = handRelease(10, "refunded");
const writtenOff = handRelease(10, "written_off");

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
    const isGone = kind === "no_longer_shown";
    assert.equal(after(...events, writtenOff), left(!isGone), "written off");
    const takenBack = handRelease(11, "taken_back");
    assert.equal(after(...events, refunded, takenBack), `${kind} | nobody`);
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
    after(pending, refunded, orderRead(20, "cancelled", 8)),
    "cancelled_after_payment | ",
    "nor could anybody know what had changed and was not read",
  );
  assert.equal(
    after(pending, delivered, orderRead(20, "failed", 8)),
    "reversed_after_success | ",
  );
  assert.equal(
    after(other, pending, delivered, orderRead(20, "success", 8, sent)),
    "not_as_requested | ",
  );
  const success = orderRead(5, "success", 5, sent);
  const again = orderRead(20, "success", 5, { ...sent, partner_fee: 1 });
  assert.equal(
    after(success, delivered, again),
    " | not_comparable",
    "that it was success was known",
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

Deno.test("settle() says settled of all that the service does not say no to, and lists goods of an order that ended afterwards", () => {
  const said = (...events: RecordedEvent[]) => {
    const { release, releaseReason, attention, booked } = orderState(
      foldOrder(ORDER, facts(...events)),
    );
    return [release, releaseReason, booked, ...attention].join(" ");
  };
  const pending = orderRead(5, "pending", 5);
  assert.equal(said(pending, delivered), "settled delivered nothing");
  assert.equal(said(pending, writtenOff), "settled written_off nothing");
  const success = orderRead(20, "success", 15, sent);
  assert.equal(
    said(priced("30"), pending, delivered, success),
    "settled delivered sale",
  );
  const failed = orderRead(20, "failed", 15);
  assert.equal(
    said(pending, delivered, failed),
    "no ended nothing reversed_after_success",
  );
  assert.equal(said(pending, refunded, failed), "no ended nothing");
  const before = orderRead(9, "failed", 9);
  assert.equal(said(before, delivered), "no ended nothing", "it was known");
  const takenBack = handRelease(30, "taken_back");
  assert.equal(
    said(priced("30"), pending, delivered, success, takenBack),
    "yes session_matched sale",
  );
});

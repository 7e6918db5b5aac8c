import assert from "node:assert/strict";
import type { RecordedEvent } from "../events/event.ts";
import {
  absentRead,
  contradiction,
  facts,
  ORDER,
  orderRead,
  orderWebhook,
  session,
  TX,
} from "../testing/given_facts.ts";
import { foldOrder } from "../testing/fold_order.ts";
import { orderState } from "../states/order_state.ts";

const release = (...events: RecordedEvent[]) =>
  orderState(foldOrder(ORDER, facts(...events))).release;

/** Release and reason. */
const decided = (...events: RecordedEvent[]) => {
  const state = orderState(foldOrder(ORDER, facts(...events)));
  return `${state.release}: ${state.releaseReason}`;
};

const success = orderRead(5, "success", 5, { tx_id: TX });
const asked = (currency_amount: string, session_id = "session-1") =>
  session(0, { session_id, currency: "USD", currency_amount });

Deno.test("orderState() releases a success that is what was recorded, and no other unchecked", () => {
  assert.equal(decided(success, asked("30")), "yes: session_matched");
  assert.equal(
    decided(orderRead(3, "pending", 3), success, asked("30")),
    "yes: session_matched",
  );
  assert.equal(decided(success), "unchecked: nothing_recorded");
  assert.equal(
    decided(success, session(0)),
    "unchecked: incomplete",
  );
});

Deno.test("orderState() says no to another final status that the service shows", () => {
  for (const status of ["failed", "cancelled"]) {
    assert.equal(release(orderRead(5, status, 5)), "no");
    assert.equal(release(success, orderRead(9, status, 9)), "no", "taken back");
    assert.equal(
      release(orderRead(5, status, 5), orderWebhook(9, "order_complete")),
      "no",
    );
  }
});

Deno.test("orderState() waits while the service shows no final status", () => {
  assert.equal(release(), "wait");
  assert.equal(release(orderWebhook(1, "order_complete")), "wait");
  assert.equal(release(orderWebhook(1, "order_failed")), "wait");
  assert.equal(release(absentRead(1)), "wait");
  for (const status of ["created", "pending", "on_hold"]) {
    const read = orderRead(5, status, 5);
    assert.equal(release(read), "wait");
    assert.equal(release(read, orderWebhook(6, "order_complete")), "wait");
  }
});

Deno.test("orderState() waits after a reversal, whichever way it went", () => {
  const failed = orderRead(3, "failed", 3);
  assert.equal(release(failed, success), "wait");
  assert.equal(release(success, orderRead(9, "pending", 9)), "wait");
  const again = orderRead(12, "success", 12, { tx_id: TX });
  assert.equal(
    release(success, orderRead(9, "pending", 9), again, asked("30")),
    "yes",
  );
  assert.equal(release(success, orderRead(9, "failed", 9), again), "wait");
});

Deno.test("orderState() waits where the reading is not what the confirmed session asked for", () => {
  assert.equal(release(success, asked("40")), "wait");
  const wallet = session(0, { wallet_address: "0xother" });
  assert.equal(release(success, wallet), "wait");
});

Deno.test("orderState() is not switched off by a second session, nor by one that a webhook names", () => {
  const two = [asked("900"), asked("900", "session-2")];
  const cheap = orderRead(5, "success", 5, {
    tx_id: TX,
    currency_amount: "1.00",
  });
  assert.equal(decided(cheap, ...two), "wait: not_as_requested");
  const elsewhere = session(0, {
    session_id: "cheap",
    click_id: "basket-2",
    currency: "USD",
    currency_amount: "1.00",
  });
  const naming = orderWebhook(6, "order_complete", {}, {
    hpp_session_id: "cheap",
  });
  assert.equal(
    decided(cheap, ...two, elsewhere, naming),
    "wait: not_as_requested",
  );
});

Deno.test("orderState() waits where seventeen sessions were recorded under the click id", () => {
  const clicks = Array.from(
    { length: 17 },
    (_, n) => asked("30", `session-${n}`),
  );
  assert.equal(decided(success, ...clicks), "wait: several_match");
});

Deno.test("orderState() waits for an order that the service does not show any more", () => {
  const state = orderState(
    foldOrder(ORDER, facts(success, asked("30"), absentRead(6))),
  );
  assert.equal(state.release, "wait");
  assert.equal(state.releaseReason, "absent");
  assert.equal(state.outcome, "no_longer_shown");
  assert.deepEqual(state.attention, ["no_longer_shown"]);
  assert.equal(state.booked, "nothing");
});

Deno.test("orderState() lists a reversed order with a transaction under both kinds", () => {
  const { outcome, attention, booked } = orderState(
    foldOrder(
      ORDER,
      facts(
        success,
        asked("30"),
        orderRead(9, "cancelled", 9, { tx_id: TX }),
      ),
    ),
  );
  assert.equal(outcome, "reversed");
  assert.deepEqual(attention, [
    "reversed_after_success",
    "sent_without_success",
    "cancelled_after_payment",
  ]);
  assert.equal(booked, "reversal");
});

Deno.test("orderState() is not moved by a webhook that contests, contradicts or fills in", () => {
  const forged = [
    orderWebhook(6, "order_failed", { quote_amount: "1" }),
    orderWebhook(7, "order_cancelled", { address: "0xF0" }),
    orderWebhook(8, "order_complete", { quote_amount: "30" }, {
      hpp_session_id: "session-1",
    }),
    contradiction("failed", 6),
  ];
  assert.equal(release(success, asked("30"), ...forged), "yes");
  assert.equal(release(success, asked("40"), ...forged), "wait");
  // An amount that the service does not state cannot be compared.
  const bare = orderRead(5, "success", 5, {
    tx_id: TX,
    currency_amount: undefined,
  });
  assert.equal(
    decided(bare, asked("40"), ...forged),
    "unchecked: incomplete",
  );
});

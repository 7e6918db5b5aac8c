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
} from "./given_test.ts";
import { foldOrder } from "../explain/as_of.ts";
import { orderState } from "./state_of_order.ts";

const release = (...events: RecordedEvent[]) =>
  orderState(foldOrder(ORDER, facts(...events))).release;

const success = orderRead(5, "success", 5, { tx_id: "0x1" });
const asked = (currency_amount: string, session_id = "session-1") =>
  session(0, { session_id, currency: "USD", currency_amount });

Deno.test("decideRelease() says yes to a success that the service shows", () => {
  assert.equal(release(success), "yes");
  assert.equal(release(orderRead(3, "pending", 3), success), "yes");
  assert.equal(release(success, asked("30")), "yes");
});

Deno.test("decideRelease() says no to another final status that the service shows", () => {
  for (const status of ["failed", "cancelled"]) {
    assert.equal(release(orderRead(5, status, 5)), "no");
    assert.equal(release(success, orderRead(9, status, 9)), "no", "taken back");
    assert.equal(
      release(orderRead(5, status, 5), orderWebhook(9, "order_complete")),
      "no",
    );
  }
});

Deno.test("decideRelease() waits while the service shows no final status", () => {
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

Deno.test("decideRelease() waits after a reversal, whichever way it went", () => {
  const failed = orderRead(3, "failed", 3);
  assert.equal(release(failed, success), "wait");
  assert.equal(release(success, orderRead(9, "pending", 9)), "wait");
  const again = orderRead(12, "success", 12, { tx_id: "0x1" });
  assert.equal(release(success, orderRead(9, "pending", 9), again), "yes");
  assert.equal(release(success, orderRead(9, "failed", 9), again), "wait");
});

Deno.test("decideRelease() waits where the reading is not what the confirmed session asked for", () => {
  assert.equal(release(success, asked("40")), "wait");
  const wallet = session(0, { wallet_address: "0xother" });
  assert.equal(release(success, wallet), "wait");
});

Deno.test("decideRelease() does not count a claimed session", () => {
  const two = [asked("40"), asked("40", "session-2")];
  assert.equal(release(success, ...two), "yes");
  const elsewhere = session(0, {
    session_id: "expensive",
    click_id: "basket-2",
    currency: "USD",
    currency_amount: "9999",
  });
  const naming = orderWebhook(6, "order_complete", {}, {
    hpp_session_id: "expensive",
  });
  assert.equal(release(success, elsewhere, naming), "yes");
});

Deno.test("decideRelease() is not moved by a webhook that contests, contradicts or fills in", () => {
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
  // A field that the service does not state is compared with nothing.
  const bare = orderRead(5, "success", 5, {
    tx_id: "0x1",
    currency_amount: undefined,
  });
  assert.equal(release(bare, asked("40"), ...forged), "yes");
});

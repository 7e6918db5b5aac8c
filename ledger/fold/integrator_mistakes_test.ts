// Mistakes seen in public integrations, as far as they concern the state.
import assert from "node:assert/strict";
import type { RecordedEvent } from "../event/event.ts";
import {
  at,
  facts,
  ORDER,
  orderRead,
  orderWebhook,
  rawWebhookAt,
  redelivered,
  session,
  userWebhook,
  webhookAt,
} from "./_given_test.ts";
import { foldOrder } from "./as_of.ts";
import type { OrderState } from "./order_state.ts";
import { readFact } from "./read_fact.ts";
import { routes } from "./routes.ts";
import { orderState } from "./state_of_order.ts";

function stateOf(...events: RecordedEvent[]): OrderState {
  return orderState(foldOrder(ORDER, facts(...events)));
}

Deno.test("A logout or a late transfer_started does not reset a completed order", () => {
  const complete = orderWebhook(1, "order_complete");
  assert.equal(
    stateOf(complete, orderWebhook(2, "transfer_started")).status,
    "success",
  );
  assert.equal(
    stateOf(complete, userWebhook(2, "logout", "success")).status,
    "success",
  );
  assert.equal(
    routes(readFact(userWebhook(2, "logout", "success"))).orderId,
    null,
  );
});

Deno.test("A duplicate order_complete changes nothing, so that nothing is paid twice", () => {
  const complete = orderWebhook(1, "order_complete");
  assert.deepEqual(
    stateOf(complete, redelivered(complete, 6), redelivered(complete, 66)),
    stateOf(complete),
  );
});

Deno.test("click_id is not the key of an order: two orders of one click id stay apart", () => {
  const [one, two] = facts(
    orderWebhook(1, "order_failed"),
    orderWebhook(2, "order_complete", { id: "01HZSECOND" }),
  );
  assert.ok(one !== undefined && two !== undefined);
  assert.equal(routes(one).clickId, routes(two).clickId);
  assert.notEqual(routes(one).orderId, routes(two).orderId);
  assert.equal(
    orderState(foldOrder(ORDER, [one, two])).status,
    "failed",
    "a fact of another order is not taken",
  );
});

Deno.test("A test event makes no row with an empty id, and links nothing", () => {
  for (const id of ["", "looks-real"]) {
    const fact = readFact(webhookAt(1, {
      type: "test",
      click_id: "test_click_id",
      order: { id, base: "USD", quote: "ETH" },
    }));
    assert.deepEqual(
      [fact.label, fact.orderId, fact.userId, fact.sessionId, fact.clickId],
      ["test", null, null, null, null],
    );
  }
});

Deno.test("An order event with an empty id makes no row", () => {
  const fact = readFact(orderWebhook(1, "order_complete", { id: "" }));
  assert.equal(fact.orderId, null);
});

Deno.test("Empty and test click ids link nothing", () => {
  for (const click_id of ["", "test_click_id"]) {
    const webhook = readFact(
      orderWebhook(1, "order_complete", {}, { click_id }),
    );
    assert.equal(webhook.clickId, null);
    const read = readFact(orderRead(1, "success", 1, { click_id }));
    assert.equal(read.clickId, null);
    assert.equal(readFact(session(1, { click_id })).clickId, null);
    const state = stateOf(
      orderWebhook(1, "order_complete", {}, { click_id }),
      orderRead(1, "success", 1, { click_id }),
    );
    assert.equal(state.clickId, null);
  }
});

Deno.test("The paid amount is compared with the price, as exact decimals", () => {
  const state = stateOf(
    orderWebhook(1, "order_complete", { quote_amount: "0.30" }, {
      hpp_session_id: "session-1",
    }),
    session(0, { currency: "USD", currency_amount: "30.00" }),
  );
  assert.deepEqual(
    state.anomalies.map(({ kind, field }) => `${kind} ${field}`),
    ["amount_mismatch currencyAmount"],
  );
});

Deno.test("changed_at is read, not updated_at, and times without a zone are UTC", () => {
  const state = stateOf(
    orderRead(9, "success", null, {
      changed_at: "2026-11-20 10:00:00",
      updated_at: "2031-01-01 00:00:00",
      tx_id: "0x1",
    }),
  );
  assert.equal(state.changedAt, "2026-11-20T10:00:00Z");
});

Deno.test("Unknown statuses are not taken as final", () => {
  const state = stateOf(
    orderRead(1, "refund_pending", 1),
    orderRead(2, "success", 2, { tx_id: "0x1" }),
  );
  assert.equal(state.status, "success");
});

Deno.test("order_canceled with one l is the cancel event", () => {
  assert.equal(stateOf(orderWebhook(1, "order_canceled")).status, "cancelled");
});

Deno.test("An order event without a user is not dropped", () => {
  const state = stateOf(orderWebhook(1, "order_complete"));
  assert.equal(state.status, "success");
  assert.equal(state.userId, null);
});

Deno.test("Payload shapes guessed from prose do not lose the claim", () => {
  const numeric = orderWebhook(1, "order_complete", {
    base_amount: 0.1,
    quote_amount: { total: 30 },
    address: 7,
    partner_data: "none",
  });
  const state = stateOf(numeric);
  assert.equal(state.status, "success");
  assert.equal(state.currencyAmount, null);
});

Deno.test("What nobody understands is counted and folds into nothing", () => {
  const bodies = [
    "",
    "not json",
    "[]",
    "null",
    '{"type":7}',
    '{"type":"order_complete","order":"none"}',
    "\ufeff{}",
  ];
  for (const body of bodies) {
    const fact = readFact(rawWebhookAt(1, body));
    assert.equal(fact.kind, "unreadable", body);
    assert.equal(fact.orderId, null);
    assert.equal(fact.recordedAt, at(1));
  }
  assert.equal(readFact(rawWebhookAt(1, "")).label, "quarantined");
  assert.equal(
    readFact(rawWebhookAt(1, '{"type":"brewed"}')).label,
    "unrecognised",
  );
  const invalid = readFact(rawWebhookAt(1, new Uint8Array([0xff, 0xfe, 0x00])));
  assert.equal(invalid.kind, "unreadable");
});

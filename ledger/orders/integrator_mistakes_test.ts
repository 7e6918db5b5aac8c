// Mistakes seen in public integrations, as far as they concern the state.
import assert from "node:assert/strict";
import type { RecordedEvent } from "../events/event.ts";
import {
  at,
  facts,
  ORDER,
  orderRead,
  orderWebhook,
  rawWebhookAt,
  session,
  TX,
  userWebhook,
  webhookAt,
} from "../testing/given_facts.ts";
import { foldOrder } from "../testing/fold_order.ts";
import { type OrderState, orderState } from "../states/order_state.ts";
import { readFact } from "../events/read_fact.ts";

function stateOf(...events: RecordedEvent[]): OrderState {
  return orderState(foldOrder(ORDER, facts(...events)));
}

Deno.test("orderState() keeps a completed order when a logout or a late transfer_started arrives", () => {
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
    readFact(userWebhook(2, "logout", "success")).orderId,
    null,
  );
});

Deno.test("orderState() keeps two orders apart when they have one click id", () => {
  const [one, two] = facts(
    orderWebhook(1, "order_failed"),
    orderWebhook(2, "order_complete", { id: "01HZSECOND" }),
  );
  assert.ok(one !== undefined && two !== undefined);
  assert.equal(one.clickId, two.clickId);
  assert.notEqual(one.orderId, two.orderId);
  assert.equal(
    orderState(foldOrder(ORDER, [one, two])).status,
    "failed",
    "a fact of another order is not taken",
  );
});

Deno.test("readFact() gives a test event no order and no links when its ids are empty", () => {
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

Deno.test("readFact() gives an order event no order when its id is empty", () => {
  const fact = readFact(orderWebhook(1, "order_complete", { id: "" }));
  assert.equal(fact.orderId, null);
});

Deno.test("readFact() gives no link when the click id is empty or a test one", () => {
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

Deno.test("orderState() reads changed_at, not updated_at, and takes times without a zone as UTC", () => {
  const state = stateOf(
    orderRead(9, "success", null, {
      changed_at: "2026-11-20 10:00:00",
      updated_at: "2031-01-01 00:00:00",
      tx_id: TX,
    }),
  );
  assert.equal(state.changedAt, "2026-11-20T10:00:00Z");
});

Deno.test("readFact() keeps the claim when the payload has another shape", () => {
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

Deno.test("readFact() only counts a body when it cannot be understood", () => {
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

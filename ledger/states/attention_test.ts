import assert from "node:assert/strict";
import type { NewEvent, RecordedEvent } from "../events/event.ts";
import { foldOrder } from "../testing/fold_order.ts";
import {
  absentRead,
  at,
  contradiction,
  facts,
  ORDER,
  orderRead,
  orderWebhook,
  serviceTime,
  session,
  TX,
} from "../testing/given_facts.ts";
import {
  attentionOf,
  orderState,
  outcomeNow,
  OVERDUE_AFTER_MS,
} from "./order_state.ts";
import { emptyLedger } from "../testing/empty_ledger.ts";

function kinds(nowMinute: number, ...events: RecordedEvent[]): string {
  const state = orderState(foldOrder(ORDER, facts(...events)));
  return attentionOf(state, Date.parse(at(nowMinute))).join(" ");
}

const sent = { tx_id: TX };
const priced = (currency_amount: string) =>
  session(0, { currency: "USD", currency_amount });

Deno.test.each([
  ["refund_due", [orderRead(2, "failed", 2, { fail_reason: "4016" })]],
  ["amount_mismatch", [orderRead(2, "failed", 2, { fail_reason: "4017" })]],
  ["not_comparable", [
    orderWebhook(1, "payment_started", { quote_amount: "99" }),
    orderRead(2, "success", 2, sent),
  ]],
  ["not_as_requested", [priced("900"), orderRead(2, "success", 2, sent)]],
  ["cancelled_after_payment", [orderRead(2, "cancelled", 2)]],
  ["", [orderRead(2, "cancelled", 2, { fail_reason: "4018" })]],
  ["sent_without_success cancelled_after_payment", [
    orderRead(2, "cancelled", 2, sent),
  ]],
  ["success_without_transaction", [priced("30"), orderRead(2, "success", 2)]],
  ["reversed_after_success cancelled_after_payment", [
    orderRead(2, "success", 2, sent),
    orderRead(4, "cancelled", 4),
  ]],
  ["final_changed", [
    priced("30"),
    orderRead(2, "failed", 2),
    orderRead(4, "success", 4, sent),
  ]],
  ["refund_due", [
    priced("30"),
    orderRead(2, "success", 2, { ...sent, fail_reason: "4016" }),
  ]],
  ["contradictory_reading", [
    priced("30"),
    orderRead(2, "success", 2, { ...sent, fail_reason: "4017" }),
  ]],
  ["unknown_status", [orderRead(2, "on_hold", 2)]],
  ["forged_or_unknown", [
    orderWebhook(1, "order_complete"),
    absentRead(12),
    contradiction("success", 2),
  ]],
  ["no_longer_shown", [
    priced("30"),
    orderRead(1, "success", 1, sent),
    absentRead(5),
  ]],
  ["", [orderWebhook(1, "order_complete"), absentRead(2)]],
  ["", [priced("30"), orderRead(2, "success", 2, sent)]],
  ["not_comparable", [orderRead(2, "success", 2, sent)]],
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
  const nowMs = Date.parse(at(0)) + OVERDUE_AFTER_MS.stuck + 10 * 60_000;
  await using ledger = await emptyLedger({
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
  const recorded = session(20, { click_id: "basket-9" });
  await ledger.append([recorded as NewEvent & typeof recorded]);
  await ledger.project();
  const unchecked = await Array.fromAsync(ledger.attention("not_comparable"));
  assert.deepEqual(
    unchecked.map(({ order }) => order.orderId),
    ["O5"],
    "once anything was recorded, what cannot be compared waits",
  );
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

Deno.test("Ledger.attention() lists an order whose purchase another order holds, and the order says so itself", async () => {
  await using ledger = await emptyLedger({
    now: () => Date.parse(at(20)),
  });
  const read = (id: string, minute: number) => {
    const event = orderRead(minute, "success", minute, {
      ...sent,
      order_id: id,
      created_at: serviceTime(1),
    });
    return event as NewEvent & typeof event;
  };
  const recorded = session(0, {
    reference: "basket-1",
    currency: "USD",
    currency_amount: "30",
  });
  await ledger.append([recorded as NewEvent & typeof recorded, read("O1", 5)]);
  await ledger.project();
  await ledger.append([read("O2", 6)]);
  await ledger.project();
  for (const only of [undefined, "paid_twice"] as const) {
    const listed = await Array.fromAsync(ledger.attention(only));
    assert.deepEqual(
      listed.map(({ kinds, order }) => `${order.orderId} ${kinds.join(" ")}`),
      ["O2 paid_twice"],
    );
  }
  for (
    const [id, outcome] of [["O1", "session_matched"], ["O2", "paid_twice"]]
  ) {
    const order = await ledger.orders.get(id ?? "");
    assert.ok(order !== null);
    assert.equal(order.outcome, outcome);
    assert.equal(order.release, id === "O1" ? "yes" : "wait");
    assert.equal(outcomeNow(order, Date.parse(at(20))).code, outcome);
  }
});

Deno.test("Ledger.attention() lists an order whose release nobody was told of, until its key is fired", async () => {
  await using ledger = await emptyLedger({
    now: () => Date.parse(at(20)),
    goLive: at(10),
  });
  const read = orderRead(12, "success", 6, {
    ...sent,
    created_at: serviceTime(5),
  });
  await ledger.append([read as NewEvent & typeof read]);
  await ledger.project();
  const listed = () => Array.fromAsync(ledger.attention("yes_withheld"));
  assert.deepEqual(await listed(), []);
  // Only now is its basket recorded, as asked for before the order.
  const recorded = session(4, {
    reference: "basket-1",
    currency: "USD",
    currency_amount: "30",
  });
  await ledger.append([recorded as NewEvent & typeof recorded]);
  await ledger.project();
  assert.deepEqual(
    (await listed()).map(({ kinds, order }) =>
      `${order.orderId} ${order.release} ${kinds.join(" ")}`
    ),
    [`${ORDER} yes yes_withheld`],
  );
  assert.equal(
    await ledger.subscriptions.fire([`order:${ORDER}:release.yes`]),
    1,
  );
  assert.deepEqual(await listed(), []);
});

import assert from "node:assert/strict";
import type { RecordedEvent } from "../events/event.ts";
import { foldOrder, foldUser } from "../explain/as_of.ts";
import { explainOrder } from "../explain/explain_order.ts";
import {
  absentRead,
  contradiction,
  facts,
  ORDER,
  orderRead,
  orderWebhook,
  session,
  USER,
  userRead,
  userWebhook,
  webhookAt,
} from "../testing/given_facts.ts";
import { orderState } from "../states/state_of_order.ts";
import {
  canonicalOrder,
  canonicalUser,
} from "../projection/codec/fold_codec.ts";
import { userState } from "../users/user_state.ts";
import { ANOMALY_KINDS } from "./anomaly.ts";

/** Histories of an order that have every anomaly between them. */
const histories: readonly (readonly RecordedEvent[])[] = [
  [
    orderRead(5, "failed", 5, { tx_id: "0xT1", fail_reason: "4004" }),
    orderWebhook(6, "order_complete", {
      quote_amount: "31.00",
      base: "BTC",
      address: "0xAbC2",
      transaction_id: "0xT2",
    }, { user: { user_id: "01OTHER" }, hpp_session_id: "session-9" }),
    session(0, { commodity: "BTC", currency_amount: "99" }),
    orderWebhook(7, "order_cancelled"),
    contradiction("progress", 4),
    orderWebhook(3, "payment_started"),
    contradiction("cancelled", 8),
  ],
  [
    orderRead(2, "pending", 2),
    orderRead(3, "progress", 3, { payment_type: true }),
    orderWebhook(4, "order_complete"),
    orderWebhook(5, "order_failed"),
    absentRead(6),
  ],
  [
    orderRead(2, "cancelled", 2),
    orderRead(3, "success", 3, { changed_at: "2099-01-01 00:00:00" }),
  ],
  [orderRead(2, "brewing", 2)],
  [orderRead(2, "", 2), orderWebhook(3, "order_complete")],
  [orderWebhook(3, "order_complete"), absentRead(4)],
  [webhookAt(3, { type: "brewed", order: { id: ORDER } })],
];

const userHistories: readonly (readonly RecordedEvent[])[] = [
  [
    userRead(1, { lkyc_status: "retry", limits: { crypto_remaining: "N/A" } }),
    userWebhook(2, "verify_failed", "failed", "success", {
      reject_type: "LKYC_FAILED_AGE",
    }),
  ],
  [userWebhook(2, "verify_success", "success")],
  [
    userRead(1, { lkyc_status: "success" }),
    userRead(2, { lkyc_status: "retry" }),
  ],
];

Deno.test("orderAnomalies() finds every kind, and a canonical state holds no sentence", () => {
  const kinds = new Set<string>();
  for (const history of histories) {
    const state = orderState(foldOrder(ORDER, facts(...history)));
    for (const { kind } of state.anomalies) kinds.add(kind);
    assert.doesNotMatch(canonicalOrder(state), / /);
  }
  for (const history of userHistories) {
    const state = userState(foldUser(USER, facts(...history)));
    for (const { kind } of state.anomalies) kinds.add(kind);
    assert.doesNotMatch(canonicalUser(state), / /);
  }
  assert.deepEqual([...kinds].sort(), ANOMALY_KINDS.toSorted());
});

Deno.test("explainOrder() gives codes, not sentences", () => {
  for (const history of histories) {
    for (
      const { content, why } of explainOrder(ORDER, facts(...history)).events
    ) {
      if (why.code === "names_order_unreadably") continue;
      assert.doesNotMatch(JSON.stringify([content, why]), / /);
    }
  }
});

Deno.test("orderAnomalies() gives the data of a mismatch with a webhook and with a session", () => {
  const { anomalies } = orderState(foldOrder(
    ORDER,
    facts(
      session(0, { currency_amount: "99" }),
      orderWebhook(1, "order_complete", { quote_amount: "31" }),
      orderRead(2, "success", 2, { tx_id: "0xT1" }),
    ),
  ));
  assert.deepEqual(anomalies, [
    {
      kind: "amount_mismatch",
      field: "currencyAmount",
      source: "webhook",
      stated: "31",
      read: "30",
    },
    {
      kind: "amount_mismatch",
      field: "currencyAmount",
      source: "session",
      requested: "99",
      ordered: "30",
      customerMayChoose: false,
    },
  ]);
});

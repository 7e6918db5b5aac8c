import assert from "node:assert/strict";
import type { RecordedEvent } from "../events/event.ts";
import { foldOrder } from "../testing/fold_order.ts";
import { foldUser } from "../testing/fold_user.ts";
import { explainOrder } from "../explain/explain_order.ts";
import {
  absentRead,
  at,
  contradiction,
  facts,
  ORDER,
  orderRead,
  orderWebhook,
  session,
  TX,
  TX2,
  USER,
  userRead,
  userWebhook,
  webhookAt,
} from "../testing/given_facts.ts";
import { type OrderState, orderState } from "../states/order_state.ts";
import { packOrder, unpackOrder } from "../projection/rows.ts";
import { userState } from "../users/user_state.ts";
import { ANOMALY_KINDS } from "./anomaly.ts";
import { orderSnapshot } from "../testing/mint.ts";

/** Histories of an order that have every anomaly between them. */
const histories: readonly (readonly RecordedEvent[])[] = [
  [
    orderRead(5, "failed", 5, { tx_id: TX, fail_reason: "4004" }),
    orderWebhook(6, "order_complete", {
      quote_amount: "31.00",
      base: "BTC",
      address: "0xAbC2",
      transaction_id: TX2,
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
  [orderRead(2, "success", -1, { tx_id: "processing" })],
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
    assert.doesNotMatch(JSON.stringify(state), / /);
  }
  for (const history of userHistories) {
    const state = userState(foldUser(USER, facts(...history)));
    for (const { kind } of state.anomalies) kinds.add(kind);
    assert.doesNotMatch(JSON.stringify(state), / /);
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
      orderRead(2, "success", 2, { tx_id: TX }),
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

const stateOf = (...events: readonly RecordedEvent[]): OrderState =>
  orderState(foldOrder(ORDER, facts(...events)));

const oddOf = ({ anomalies }: Pick<OrderState, "anomalies">) =>
  anomalies.filter((anomaly) => anomaly.kind === "unreadable_field")
    .map(({ field, value }) => `${field} ${value}`);

const deep = JSON.parse("[".repeat(5000) + "]".repeat(5000));

Deno.test("orderState() keeps what is sound of an odd reading and tells what is not", () => {
  for (
    const [field, value, kind, read] of [
      ["payment_type", true, "boolean", "paymentType"],
      ["card_brand", ["VISA"], "array", "cardBrand"],
      ["crypto_amount", "N/A", "text", "cryptoAmount"],
      ["crypto_amount", "1,5", "text", "cryptoAmount"],
      ["tx_id", { hash: "0xabc" }, "object", "txId"],
      ["currency_amount", true, "boolean", "currencyAmount"],
      ["click_id", "basket-1\0", "nul", "clickId"],
      ["address", deep, "too_deep", "address"],
    ] as const
  ) {
    const state = stateOf(orderRead(1, "success", 1, { [field]: value }));
    assert.deepEqual(oddOf(state), [`${field} ${kind}`]);
    assert.equal(state[read], null, field);
    assert.equal(`${state.status} ${state.trust}`, "success confirmed");
    assert.equal(state.currency, "USD");
  }
});

Deno.test("orderState() forgets what was odd once the service shows the field again", () => {
  const odd = orderRead(1, "success", 1, { tx_id: {} });
  const sound = orderRead(2, "success", 1, { tx_id: TX });
  assert.deepEqual(oddOf(stateOf(odd)), ["tx_id object"]);
  const state = stateOf(sound, odd);
  assert.deepEqual(oddOf(state), []);
  assert.equal(state.txId, TX);
});

Deno.test("orderState() takes no status from a reading without one, whenever it was read", () => {
  for (const minute of [1, 3]) {
    const state = stateOf(
      orderRead(2, "success", 2, { tx_id: TX }),
      orderRead(minute, "", 9),
    );
    assert.equal(`${state.status} ${state.trust}`, "success confirmed");
    assert.equal(state.txId, TX);
    assert.deepEqual(oddOf(state), minute === 3 ? ["status empty"] : []);
    assert.deepEqual(state.history, [{
      source: "snapshot",
      status: "success",
    }]);
  }
});

Deno.test("orderState() shows the fields of an order whose status was never readable", () => {
  const alone = stateOf(orderRead(1, "", 1));
  assert.equal(`${alone.status} ${alone.trust}`, "created claimed");
  assert.equal(alone.currencyAmount, "30");
  assert.equal(alone.confirmed, null);
  assert.deepEqual(alone.reason, {
    code: "reading_without_status",
    claimed: null,
  });
  const claimed = stateOf(
    orderRead(1, "", 1),
    orderWebhook(2, "order_complete"),
  );
  assert.equal(`${claimed.status} ${claimed.trust}`, "success claimed");
  assert.deepEqual(claimed.reason, {
    code: "reading_without_status",
    claimed: "success",
  });
});

Deno.test("packOrder() keeps what was odd, with a status and without", () => {
  const fold = foldOrder(
    ORDER,
    facts(
      orderRead(1, "success", 1, { tx_id: {} }),
      orderRead(2, "", 1, { address: [] }),
    ),
  );
  const again = unpackOrder(ORDER, packOrder(fold));
  assert.deepEqual(again, fold);
  assert.equal(
    JSON.stringify(orderState(again)),
    JSON.stringify(orderState(fold)),
  );
  assert.deepEqual(oddOf(orderState(again)), [
    "address array",
    "status empty",
    "tx_id object",
  ]);
});

Deno.test("explainOrder() says that a reading shows no status", () => {
  const { events } = explainOrder(ORDER, facts(orderRead(1, "", 1)));
  assert.deepEqual(events[0]?.content, {
    code: "reading",
    status: null,
    changedAt: at(1).replace(".000", ""),
    readAt: at(1),
  });
});

Deno.test("userState() keeps what is sound of an odd reading and tells what is not", () => {
  const [fact] = facts(userRead(1, {
    country: ["USA"],
    lkyc_status: "success",
    banned: "no",
    limits: { crypto_remaining: "N/A", crypto_spending: 1.5 },
  }));
  assert.ok(fact !== undefined);
  const state = userState(foldUser(USER, [fact]));
  assert.equal(state.verification.lkyc, "success");
  assert.equal(state.limits?.cryptoSpending, "1.5");
  assert.deepEqual(oddOf(state), [
    "banned text",
    "country array",
    "limits.crypto_remaining text",
  ]);
});

Deno.test("orderSnapshot() tells two readings apart however deep they are", () => {
  const minted = (last: string) =>
    orderSnapshot({
      source: `{"order_id":"O","status":"x","a":${"[".repeat(100_000)}${last}${
        "]".repeat(100_000)
      }}`,
      readAt: at(1),
      recordedAt: at(1),
      salt: new Uint8Array(16),
    }).digest;
  assert.notEqual(minted("1"), minted("2"));
  assert.equal(minted("1"), minted("1"));
});

import assert from "node:assert/strict";
import {
  absentRead,
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
} from "../../testing/given_facts.ts";
import { foldOrder, foldUser } from "../../explain/as_of.ts";
import {
  canonicalOrder,
  canonicalUser,
  decodeOrderFold,
  decodeUserFold,
  encodeOrderFold,
  encodeUserFold,
  storeUser,
} from "./fold_codec.ts";
import { initialOrderFold, type OrderFold } from "../../orders/order_fold.ts";
import {
  orderActivity,
  readOrderActivity,
  storeOrderActivity,
} from "../../orders/order_activity.ts";
import { storedOrder } from "../../testing/stored_order.ts";
import { readOrderState } from "./stored_state.ts";
import { orderState } from "../../states/state_of_order.ts";
import { userState } from "../../users/user_state.ts";

/** A fold in which no two fields hold the same text. */
function fullOrder(times: Readonly<Record<string, string>> = {}): OrderFold {
  return foldOrder(
    ORDER,
    facts(
      session(0, {
        reference: "asked reference",
        commodity: "ASKED",
        network: "asked network",
        commodity_amount: "11",
        currency: "EUR",
        currency_amount: "12",
        wallet_address: "asked address",
        user_id: "asked user",
        asked_at: "2026-11-20T00:00:00.000Z",
        valid_for_ms: 86_400_000,
      }),
      orderWebhook(1, "transfer_started", {
        transaction_id: "claimed tx",
        address: "claimed address",
        external_order_id: "claimed external",
        error_code: "claimed error",
        partner_data: { sc_address: "0xSC", sc_input_data: "0xIN" },
      }, {
        click_id: "claimed click",
        hpp_session_id: "session-1",
        user: { user_id: "claimed user" },
      }),
      orderRead(3, "success", 2, {
        tx_id: TX,
        fail_reason: "fail",
        address: "address",
        card_id: "card",
        card_brand: "brand",
        payment_type: "payment",
        processed_through: "acquirer",
        partner_fee: "1",
        partner_fee_percent: "2",
        service_fee: "3",
        service_fee_percent: "4",
        sc_input_data: "0xREAD",
        ...times,
      }),
      contradiction("pending", 1),
      absentRead(5),
    ),
  );
}

Deno.test("decodeOrderFold() gives back every field of a full fold", () => {
  const fold = fullOrder({
    created_at: "2098-01-01 00:00:00",
    changed_at: "2099-01-01 00:00:00",
  });
  const missing = Object.entries(fold.latest ?? {}).concat(
    Object.entries(fold.claims[0]?.bodies[0] ?? {}),
    Object.entries(fold.expectations[0] ?? {}),
  ).filter(([name, value]) =>
    name !== "match" && name !== "erasedTx" && (value === null || value === "")
  );
  assert.deepEqual(missing, [], "the fold under test is full");
  assert.deepEqual(decodeOrderFold(encodeOrderFold(fold)), fold);
});

Deno.test("encodeOrderFold() writes what webhooks repeat once, and decodes to all of it", () => {
  const order = (id: string | null) => ({
    transaction_id: id,
    address: "an address that is long",
    external_order_id: "X1",
  });
  const history = [
    orderWebhook(1, "payment_started", order(null)),
    orderWebhook(2, "transfer_started", order("0xT1")),
    orderWebhook(3, "order_complete", order("0xT1")),
    orderWebhook(4, "order_complete", order(TX2)),
  ];
  const read = orderRead(5, "success", 5, {
    tx_id: TX2,
    address: "an address that is long",
  });
  for (const events of [history, [...history, read]]) {
    const fold = foldOrder(ORDER, facts(...events));
    const text = encodeOrderFold(fold);
    assert.equal(text.split("an address that is long").length, 2);
    assert.deepEqual(decodeOrderFold(text), fold);
  }
});

Deno.test("decodeUserFold() gives back every field of a full fold", () => {
  const fold = foldUser(
    USER,
    facts(
      userWebhook(1, "login", "success", "retry"),
      userWebhook(2, "verify_failed", "failed", null, { reject_type: "odd" }),
      webhookAt(3, {
        type: "otp_status",
        user_id: USER,
        status: "failed",
        status_detail: "no signal",
        phone_country_code: "US",
      }),
      userRead(4, {
        country: "USA",
        lkyc_status: "success",
        limits: { crypto_remaining: "1" },
      }),
    ),
  );
  assert.deepEqual(decodeUserFold(encodeUserFold(fold)), fold);
});

Deno.test("decodeOrderFold() gives back a fold that leaves out what its row says beside it", () => {
  const full = fullOrder();
  const claimed = foldOrder(
    ORDER,
    facts(
      orderWebhook(1, "transfer_started", {
        transaction_id: "a long claimed transaction",
        external_order_id: "a long claimed external id",
      }, {
        click_id: "a long claimed click id",
        hpp_session_id: "a long claimed session",
        user: { user_id: "a long claimed user" },
      }),
    ),
  );
  for (const fold of [initialOrderFold(ORDER), claimed, full]) {
    const text = storedOrder(fold).fold;
    assert.deepEqual(decodeOrderFold(text), fold);
    for (const long of text.match(/a long claimed [a-z ]+/g) ?? []) {
      assert.equal(text.split(long).length, 2, `${long} is written once`);
    }
  }
  const { fold: text } = storedOrder(full);
  assert.equal(text.split(TX).length, 2);
});

Deno.test("storeUser() writes the id of a user nowhere", () => {
  const fold = foldUser(USER, facts(userWebhook(1, "login", "success")));
  const state = userState(fold);
  const stored = storeUser(fold, state);
  const id = JSON.stringify(USER);
  assert.equal(
    `{"userId":${id},${stored.state.slice(1)}`,
    canonicalUser(state),
  );
  assert.equal(`[${id},${stored.fold.slice(1)}`, encodeUserFold(fold));
});

Deno.test("canonicalOrder() and canonicalUser() hold no receipt ids, positions or receipt times", () => {
  const order = fullOrder();
  const bytes = canonicalOrder(orderState(order)) +
    canonicalUser(userState(foldUser(
      USER,
      facts(userWebhook(1, "login", "success"), userRead(4, {})),
    )));
  assert.doesNotMatch(bytes, /D\d{8}|position|recordedAt|readAt|lastAt/);
  for (const time of [order.activity.lastAt, order.seenAt, order.absentAt]) {
    assert.ok(time !== null && !bytes.includes(time));
  }
});

Deno.test("readOrderState() gives the state back byte by byte, from fewer bytes", () => {
  for (const fold of [fullOrder(), initialOrderFold(ORDER)]) {
    const state = orderState(fold);
    const text = storedOrder(fold).state;
    const read = readOrderState(text);
    assert.equal(canonicalOrder(read), canonicalOrder(state));
    assert.ok(text.length < canonicalOrder(state).length);
    assert.notEqual(read.sessions, readOrderState(text).sessions);
  }
});

Deno.test("readOrderState() reads a state that says everything, as version 1 of the schema stored it", () => {
  const state = orderState(fullOrder());
  const text = `[[],${canonicalOrder(state)}]`;
  assert.equal(canonicalOrder(readOrderState(text)), canonicalOrder(state));
});

Deno.test("readOrderActivity() reads what storeOrderActivity() wrote, and what version 1 did", () => {
  for (const fold of [fullOrder(), initialOrderFold(ORDER)]) {
    const activity = orderActivity(fold);
    assert.deepEqual(readOrderActivity(storeOrderActivity(fold)), activity);
    assert.deepEqual(readOrderActivity(JSON.stringify(activity)), activity);
  }
});

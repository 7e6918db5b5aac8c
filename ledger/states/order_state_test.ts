import assert from "node:assert/strict";
import type { RecordedEvent, SessionCreatedBody } from "../events/event.ts";
import {
  ADDRESS,
  contradiction,
  erased,
  facts,
  ORDER,
  orderRead,
  orderWebhook,
  session,
  TX,
  TX2,
  USER,
} from "../testing/given_facts.ts";
import { foldOrder } from "../testing/fold_order.ts";
import { orderActivity } from "../orders/order_status.ts";
import { type OrderState, orderState } from "./order_state.ts";

function stateOf(...events: RecordedEvent[]): OrderState {
  return orderState(foldOrder(ORDER, facts(...events)));
}

Deno.test("orderState() normalises a reading", () => {
  const state = stateOf(orderRead(9, "success", 5, {
    crypto: "cUSDC.sc.sepolia",
    tx_id: TX,
    fail_reason: "",
    card_id: "",
    card_brand: "VISA",
    payment_type: "3ds_v2",
    processed_through: "acquirer",
    partner_fee: 0.3,
    partner_fee_percent: 0.01,
    service_fee: 1.2,
    service_fee_percent: null,
    sc_input_data: "0xdata",
    additional_data: { any: 1 },
  }));
  assert.equal(state.commodity, "CUSDC");
  assert.equal(state.cryptoType, "sc");
  assert.equal(state.network, "sepolia");
  assert.equal(state.currency, "USD");
  assert.equal(state.currencyAmount, "30");
  assert.equal(state.cryptoAmount, "0.012300000000000001");
  assert.equal(state.createdAt, "2026-11-20T00:00:00Z");
  assert.equal(state.changedAt, "2026-11-20T00:05:00Z");
  assert.equal(state.failReason, null);
  assert.equal(state.cardId, null);
  assert.deepEqual(state.fees, {
    partnerFee: "0.3",
    partnerFeePercent: "0.01",
    serviceFee: "1.2",
    serviceFeePercent: null,
  });
  assert.equal(state.smartContract.inputData, "0xdata");
  assert.equal(state.claimed, null);
  assert.equal(state.confirmed?.txId, TX);
  assert.deepEqual(state.anomalies, []);
});

Deno.test("orderState() reads a dotted asset of one, two, three and more parts", () => {
  const parts = (crypto: unknown) => {
    const state = stateOf(orderRead(9, "success", 5, { crypto }));
    return [state.commodity, state.cryptoType, state.network];
  };
  assert.deepEqual(parts("pol.simple.polygon"), ["POL", "simple", "polygon"]);
  assert.deepEqual(parts("pol.polygon"), ["POL", null, "polygon"]);
  assert.deepEqual(parts("pol"), ["POL", null, null]);
  assert.deepEqual(parts("pol.a.b.polygon"), ["POL", "a.b", "polygon"]);
  assert.deepEqual(parts("pol..polygon"), ["POL", null, "polygon"]);
  assert.deepEqual(parts(""), [null, null, null]);
  assert.deepEqual(parts({ commodity: "pol" }), [null, null, null]);
});

Deno.test("orderState() accepts the earlier form of an order, with fields missing", () => {
  const state = stateOf(orderRead(9, "success", 5, {
    external_order_id: undefined,
    tx_id: undefined,
    fail_reason: undefined,
    created_at: undefined,
  }));
  assert.equal(`${state.status} ${state.trust}`, "success confirmed");
  assert.equal(state.txId, null);
  assert.equal(state.createdAt, null);
  assert.deepEqual(state.anomalies, [], "an absent transaction is no anomaly");
});

Deno.test("orderState() fills fields the reading lacks from the highest claim that states them", () => {
  const state = stateOf(
    orderWebhook(1, "payment_started", { address: "A-low" }),
    orderWebhook(2, "order_complete", {
      address: "A-high",
      quote_amount: undefined,
    }),
  );
  assert.equal(state.address, "A-high");
  assert.equal(state.currencyAmount, "30.00", "only the lower claim states it");
  const read = stateOf(
    orderRead(9, "pending", 5, { address: "A-read", external_order_id: "" }),
    orderWebhook(1, "payment_started", { address: "A-low" }),
  );
  assert.equal(read.address, "A-read");
  assert.equal(read.externalOrderId, "AB12CD");
  assert.equal(read.claimed?.address, "A-low");
  assert.equal(read.confirmed?.address, "A-read");
});

Deno.test("orderState() chooses among bodies of one rank by what an erasure keeps of them", () => {
  const names = [{}, { user: { user_id: USER } }, { anything: "else" }];
  for (const low of names) {
    for (const high of names) {
      const one = orderWebhook(
        1,
        "order_complete",
        { quote_amount: "10" },
        low,
      );
      const two = orderWebhook(1, "order_complete", {
        quote_amount: "10.00",
        address: "A-2",
      }, high);
      assert.equal(stateOf(one, two).currencyAmount, "10.00");
      assert.equal(stateOf(two, one).currencyAmount, "10.00");
    }
  }
});

Deno.test("orderState() shows the same amounts however many bodies state other addresses", () => {
  const amount = orderWebhook(1, "order_complete", { base: null });
  const addresses = Array.from(
    { length: 9 },
    (_, n) =>
      orderWebhook(1, "order_complete", {
        quote_amount: null,
        address: `A-${n}`,
      }),
  );
  for (const events of [[amount, ...addresses], [...addresses, amount]]) {
    const { currencyAmount, commodity } = stateOf(...events);
    assert.deepEqual([currencyAmount, commodity], ["30.00", "ETH"]);
  }
});

Deno.test("orderState() chooses among bodies that state the same amounts by the higher digest", () => {
  const one = orderWebhook(1, "order_complete", { address: "A-1" });
  const two = orderWebhook(1, "order_complete", { address: "A-2" });
  const expected = (one.digest ?? "") > (two.digest ?? "") ? "A-1" : "A-2";
  assert.equal(stateOf(one, two).address, expected);
  assert.equal(stateOf(two, one).address, expected);
});

Deno.test("orderState() takes an empty transaction of a final reading as the service's word", () => {
  const forged = orderWebhook(3, "order_complete", { transaction_id: TX2 });
  assert.equal(stateOf(orderRead(2, "pending", 2), forged).txId, TX2);
  assert.equal(stateOf(orderRead(2, "failed", 2), forged).txId, null);
  assert.equal(
    stateOf(
      orderRead(2, "success", 2),
      orderWebhook(3, "order_failed", { error_code: "declined" }),
    ).failReason,
    null,
  );
  assert.equal(
    stateOf(
      orderRead(2, "failed", 2),
      orderWebhook(3, "order_failed", { error_code: "declined" }),
    ).failReason,
    "declined",
  );
});

Deno.test("orderState() lists distinct sources and statuses, and the sessions", () => {
  const state = stateOf(
    orderWebhook(1, "order_complete", {}, { hpp_session_id: "s-2" }),
    orderWebhook(2, "order_complete", {}, { hpp_session_id: "s-1" }),
    orderRead(3, "success", 3),
    orderRead(2, "progress", 2),
  );
  assert.deepEqual(
    state.history.map(({ source, status }) => `${source} ${status}`),
    ["snapshot progress", "snapshot success", "webhook success"],
  );
  assert.deepEqual(state.sessions, ["s-1", "s-2"]);
});

Deno.test("orderState() keeps the claim of an erased webhook, without its fields", () => {
  const state = stateOf(erased(orderWebhook(1, "order_complete")));
  assert.equal(`${state.status} ${state.trust}`, "success claimed");
  assert.equal(state.address, null);
  const rest = stateOf(
    erased(orderWebhook(2, "order_complete")),
    orderWebhook(1, "payment_started"),
  );
  assert.equal(rest.address, `0x${"aB".repeat(20)}`, "other facts stand");
});

Deno.test("orderState() shows a smart contract's address and input", () => {
  const state = stateOf(orderWebhook(1, "order_complete", {
    partner_data: { sc_address: "0xSC", sc_input_data: "0xIN" },
  }));
  assert.deepEqual(state.smartContract, { address: "0xSC", inputData: "0xIN" });
});

Deno.test("evolveOrder() keeps bodies that differ in any one field apart", () => {
  const changes: readonly Record<string, unknown>[] = [
    { quote: "EUR" },
    { quote_amount: "31" },
    { base: "BTC" },
    { base_amount: "7" },
    { address: "elsewhere" },
    { transaction_id: `0x${"3".repeat(64)}` },
    { external_order_id: "ZZ" },
    { error_code: "odd" },
    { partner_data: { sc_address: `0x${"5".repeat(64)}` } },
    { partner_data: { sc_input_data: `0x${"5".repeat(64)}` } },
  ];
  const bodies = (...events: RecordedEvent[]) =>
    foldOrder(ORDER, facts(...events)).claims.flatMap(({ bodies }) => bodies);
  const plain = orderWebhook(1, "order_failed");
  for (const change of changes) {
    const other = orderWebhook(1, "order_failed", change);
    assert.equal(bodies(plain, other).length, 2, JSON.stringify(change));
  }
  const rest = { click_id: "basket-2" };
  assert.equal(
    bodies(plain, orderWebhook(1, "order_failed", {}, rest)).length,
    2,
  );
  const user = { user: { user_id: USER } };
  assert.equal(
    bodies(plain, orderWebhook(1, "order_failed", {}, user)).length,
    2,
  );
  const unseen = orderWebhook(1, "order_failed", {}, { anything: "else" });
  const kept = bodies(plain, unseen);
  assert.equal(kept.length, 1, "what is not folded makes no difference");
  assert.equal(
    kept[0]?.digest,
    [plain.digest ?? "", unseen.digest ?? ""].sort()[1],
  );
});

const asked = (body: Partial<SessionCreatedBody>) =>
  session(0, { currency: "USD", currency_amount: "30", ...body });
const read = orderRead(1, "progress", 1);

Deno.test("orderState() shows what is expected of the order", () => {
  const state = stateOf(read, asked({ reference: "basket-7" }));
  assert.equal(state.expected?.reference, "basket-7");
  assert.equal(state.expected?.currencyAmount, "30");
  const unread = orderWebhook(1, "payment_started", {}, {
    hpp_session_id: "session-1",
  });
  assert.equal(stateOf(unread, asked({})).expected, null);
});

Deno.test("orderState() takes no session that was made long after the order for its own", () => {
  const order = orderRead(20, "progress", 10, {
    created_at: "2026-11-20 00:10:00",
  });
  const at = (...minutes: number[]) =>
    stateOf(
      order,
      ...minutes.map((minute) =>
        session(minute, { session_id: `s-${minute}`, reference: `r-${minute}` })
      ),
    ).expected?.reference;
  assert.equal(at(15, 16), "r-15", "recorded late, or by another clock");
  assert.equal(at(16, 17), undefined);
});

Deno.test("orderState() tells no session by a click id under which more than 16 were made before the order", () => {
  const order = orderRead(90, "progress", 80, {
    created_at: "2026-11-20 01:20:00",
  });
  const sessions = Array.from(
    { length: 17 },
    (_, n) => session(n, { session_id: `s-${n}`, reference: `r-${n}` }),
  );
  assert.equal(
    stateOf(order, ...sessions.slice(0, 16)).expected?.reference,
    "r-15",
  );
  assert.equal(stateOf(order, ...sessions).expected, null);
  const later = Array.from(
    { length: 40 },
    (_, n) => session(100 + n, { session_id: `t-${n}` }),
  );
  assert.equal(
    stateOf(order, ...later, ...sessions.slice(0, 3)).expected?.reference,
    "r-2",
    "what comes after the order makes no difference",
  );
});

function mismatches(...events: RecordedEvent[]): string[] {
  return stateOf(...events).anomalies.map(({ kind, field }) =>
    field === undefined ? kind : `${kind} ${field}`
  );
}

Deno.test("orderState() finds where a webhook differs from the reading", () => {
  const read = orderRead(9, "success", 5, { tx_id: TX });
  const stated = (order: Record<string, unknown>, rest = {}) =>
    mismatches(read, orderWebhook(3, "order_complete", order, rest));
  assert.deepEqual(stated({}), []);
  assert.deepEqual(stated({ quote_amount: "30.01" }), [
    "amount_mismatch currencyAmount",
  ]);
  assert.deepEqual(stated({ quote: "eur" }), ["amount_mismatch currency"]);
  assert.deepEqual(stated({ quote: "usd", base: "eth" }), []);
  assert.deepEqual(stated({ base_amount: "0.0123" }), [
    "amount_mismatch cryptoAmount",
  ]);
  assert.deepEqual(stated({ base: "BTC" }), ["asset_mismatch commodity"]);
  assert.deepEqual(
    stated({ address: ADDRESS.toUpperCase().replace("X", "x") }),
    [],
  );
  assert.deepEqual(stated({ address: "0xABC2" }), ["address_mismatch address"]);
  assert.deepEqual(stated({ transaction_id: TX }), []);
  assert.deepEqual(stated({ transaction_id: `0x${"4".repeat(64)}` }), [
    "transaction_mismatch txId",
  ]);
  assert.deepEqual(stated({}, { user: { user_id: "01OTHER" } }), [
    "user_mismatch userId",
  ]);
  assert.deepEqual(stated({}, { user: { user_id: USER } }), []);
});

Deno.test("orderState() compares amounts at the asset's precision, never as floats", () => {
  const differ = (crypto: string, read: string, stated: string) =>
    mismatches(
      orderRead(9, "success", 5, {
        crypto,
        crypto_amount: read,
        tx_id: `${crypto.startsWith("btc") ? "" : "0x"}${"5".repeat(64)}`,
      }),
      orderWebhook(3, "order_complete", {
        base: undefined,
        base_amount: stated,
        address: ADDRESS,
      }),
    ).length > 0;
  assert.equal(
    differ("btc.simple.bitcoin", "0.12345678", "0.123456784"),
    false,
  );
  assert.equal(differ("btc.simple.bitcoin", "0.12345678", "0.12345679"), true);
  assert.equal(
    differ("eth.simple.ethereum", "0.100000000000000001", "0.1"),
    true,
    "equal as binary floats",
  );
  assert.equal(differ("eth.simple.ethereum", "1", "1.000"), false);
  assert.equal(differ("new.simple.chain", "0.1", "0.1000000001"), true);
  assert.equal(differ("eth.simple.ethereum", "1", "one"), true);
});

Deno.test("orderState() compares with what the session asked for", () => {
  const against = (body: Partial<SessionCreatedBody>) =>
    mismatches(read, asked(body));
  assert.deepEqual(against({}), []);
  assert.deepEqual(against({ currency_amount: "30.000" }), []);
  assert.deepEqual(against({ currency_amount: "31" }), [
    "amount_mismatch currencyAmount",
  ]);
  assert.deepEqual(against({ currency: "EUR" }), ["amount_mismatch currency"]);
  assert.deepEqual(against({ commodity: "BTC", network: "bitcoin" }), [
    "asset_mismatch commodity",
    "asset_mismatch network",
  ]);
  assert.deepEqual(against({ wallet_address: ADDRESS }), []);
  assert.deepEqual(against({ wallet_address: "0xabc2" }), [
    "address_mismatch address",
  ]);
  assert.deepEqual(
    against({ commodity_amount: "5" }),
    [],
    "the service ignores it beside currency_amount",
  );
  assert.deepEqual(
    mismatches(
      read,
      session(0, { commodity_amount: "5", network: "ethereum" }),
    ),
    ["amount_mismatch cryptoAmount"],
  );
  assert.deepEqual(
    mismatches(read, asked({ user_id: "01X" })),
    ["user_mismatch userId"],
  );
  assert.deepEqual(
    mismatches(read, asked({ commodity: "ETH", network: "base" })),
    ["asset_mismatch network"],
  );
});

Deno.test("orderState() says when a mismatch was the customer's to choose", () => {
  const isFree = (flow_type: string) => {
    const { anomalies: [mismatch] } = stateOf(
      read,
      asked({ flow_type, currency_amount: "99" }),
    );
    return mismatch?.kind === "amount_mismatch" &&
      mismatch.source === "session" && mismatch.customerMayChoose;
  };
  assert.equal(isFree("simple_full_restrict"), false);
  assert.equal(isFree("simple"), true);
});

Deno.test("orderState() finds contradictory webhooks", () => {
  const failed = orderWebhook(1, "order_failed");
  const complete = orderWebhook(2, "order_complete");
  assert.deepEqual(mismatches(failed, complete), ["contradictory_webhooks"]);
  assert.deepEqual(
    mismatches(failed, complete, contradiction("success", 2)),
    ["contradicted"],
  );
  assert.deepEqual(
    mismatches(
      failed,
      complete,
      orderRead(1, "failed", 1),
      orderRead(9, "success", 9, { tx_id: `0x${"5".repeat(64)}` }),
    ),
    ["final_changed"],
    "the service showed both",
  );
});

Deno.test("orderState() drops the anomaly of a claim that the service has overtaken", () => {
  const started = orderWebhook(1, "payment_started");
  const refused = contradiction("progress", 1);
  assert.deepEqual(
    mismatches(orderRead(2, "created", 2), started, refused),
    ["contradicted"],
  );
  assert.deepEqual(
    mismatches(
      orderRead(9, "success", 9, { tx_id: `0x${"5".repeat(64)}` }),
      started,
      refused,
    ),
    [],
  );
});

Deno.test("orderState() finds success without a transaction, and a transaction without success", () => {
  assert.deepEqual(mismatches(orderRead(2, "success", 2)), [
    "success_without_transaction txId",
  ]);
  assert.deepEqual(mismatches(orderRead(2, "success", 2, { tx_id: null })), [
    "success_without_transaction txId",
  ]);
  for (const status of ["failed", "cancelled"]) {
    assert.deepEqual(
      mismatches(orderRead(2, status, 2, { tx_id: `0x${"5".repeat(64)}` })),
      [
        "transaction_on_unsuccessful txId",
      ],
    );
  }
  assert.deepEqual(
    mismatches(
      orderWebhook(1, "transfer_started", {
        transaction_id: `0x${"5".repeat(64)}`,
      }),
      orderRead(2, "failed", 2),
    ),
    ["transaction_on_unsuccessful txId"],
  );
});

Deno.test("orderState() finds a regression in the service's own history, in any order of reading", () => {
  const high = orderRead(5, "pending", 5);
  const low = orderRead(9, "progress", 6);
  assert.deepEqual(mismatches(high, low), ["regression"]);
  assert.deepEqual(mismatches(low, high), ["regression"]);
  assert.deepEqual(mismatches(high, orderRead(9, "progress", 4)), []);
  const again = orderRead(12, "pending", 9);
  const before = orderRead(3, "progress", 3);
  assert.deepEqual(mismatches(before, high, low, again), ["regression"]);
  assert.deepEqual(mismatches(before, high, again), []);
  const success = orderRead(14, "success", 14, {
    tx_id: `0x${"5".repeat(64)}`,
  });
  const undone = orderRead(15, "pending", 15);
  const redone = orderRead(16, "success", 16, { tx_id: `0x${"5".repeat(64)}` });
  assert.deepEqual(mismatches(success, undone, redone), ["regression"]);
  assert.deepEqual(
    mismatches(orderRead(5, "on_hold", 5), orderRead(9, "pending", 6)),
    [],
    "nobody knows where an unknown status belongs",
  );
});

Deno.test("orderState() finds a final status that changed, in place of a regression", () => {
  const success = orderRead(5, "success", 5, { tx_id: `0x${"5".repeat(64)}` });
  for (const status of ["failed", "cancelled", "pending", "on_hold"]) {
    const after = orderRead(9, status, 6);
    for (const events of [[success, after], [after, success]]) {
      assert.deepEqual(
        mismatches(...events).filter((kind) => kind !== "unrecognised_status"),
        ["final_changed"],
        status,
      );
    }
  }
  assert.deepEqual(mismatches(success, orderRead(9, "pending", 4)), []);
  assert.deepEqual(
    mismatches(success, orderWebhook(9, "order_cancelled")),
    ["contested"],
    "a webhook changes no final status",
  );
});

Deno.test("orderActivity() tells when each claim was last received, and where it stands", () => {
  const activity = orderActivity(foldOrder(
    ORDER,
    facts(
      orderWebhook(1, "payment_started"),
      orderWebhook(7, "payment_started"),
      orderWebhook(3, "order_complete"),
      contradiction("success", 3),
      orderRead(9, "progress", 2),
    ),
  ));
  assert.deepEqual(activity.claims, [
    {
      status: "progress",
      lastRecordedAt: "2026-11-20T00:07:00.000Z",
      state: "observed",
    },
    {
      status: "success",
      lastRecordedAt: "2026-11-20T00:03:00.000Z",
      state: "contradicted",
    },
  ]);
  assert.deepEqual(activity.counts, {
    payment_started: 2,
    order_complete: 1,
    order_snapshot: 1,
    order_contradicted: 1,
  });
  assert.equal(activity.events, 5);
  assert.equal(activity.lastWebhookAt, "2026-11-20T00:07:00.000Z");
  assert.equal(activity.lastReadAt, "2026-11-20T00:09:00.000Z");
  assert.equal(activity.firstRecordedAt, "2026-11-20T00:01:00.000Z");
  assert.equal(activity.lastRecordedAt, "2026-11-20T00:13:00.000Z");
});

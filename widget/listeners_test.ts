import assert from "node:assert/strict";
import fc from "fast-check";
import {
  listenerNames,
  type SdkListeners,
  sdkListeners,
  type WidgetListeners,
} from "./listeners.ts";

const payloads = [
  "error",
  "payment-status",
  "position",
  "rate-update",
] as const;

/** Listeners that note every call. */
function noting(): { calls: [string, unknown][]; listeners: WidgetListeners } {
  const calls: [string, unknown][] = [];
  const listeners = Object.fromEntries(listenerNames.map((name) => {
    return [name, (event?: unknown) => void calls.push([name, event])];
  }));
  return { calls, listeners };
}

Deno.test("sdkListeners() parses a payment's status and calls it a hint", () => {
  const { calls, listeners } = noting();
  sdkListeners(listeners)["payment-status"]?.({
    status: "success",
    payment_id: "pay-1",
    order_id: "o-1",
    tx_id: "0xab",
    external_order_id: "ABC123",
  });
  assert.deepEqual(calls, [["payment-status", {
    trust: "hint",
    status: "success",
    orderId: "o-1",
    externalOrderId: "ABC123",
    paymentId: "pay-1",
    txId: "0xab",
  }]]);
});

Deno.test("sdkListeners() keeps a status it does not know, and absent ids null", () => {
  const { calls, listeners } = noting();
  sdkListeners(listeners)["payment-status"]?.({ status: "held", tx_id: "" });
  assert.deepEqual(calls, [["payment-status", {
    trust: "hint",
    status: "held",
    orderId: null,
    externalOrderId: null,
    paymentId: null,
    txId: null,
  }]]);
});

Deno.test("sdkListeners() names the eight values of a rate", () => {
  const { calls, listeners } = noting();
  sdkListeners(listeners)["rate-update"]?.({
    ticker: "1.5",
    fee_percent: "4",
    currency_amount: "25.50",
    fee_amount: "1.02",
    commodity_amount: "0.000000000000000001",
    purchase_amount: "24.48",
    miner_fee: "0.1",
    currency_miner_fee: 0.25,
  });
  assert.deepEqual(calls, [["rate-update", {
    ticker: "1.5",
    feePercent: "4",
    feeAmount: "1.02",
    currencyAmount: "25.50",
    commodityAmount: "0.000000000000000001",
    purchaseAmount: "24.48",
    minerFee: "0.1",
    currencyMinerFee: "0.25",
  }]]);
});

Deno.test("sdkListeners() passes close, loaded, error and position on", () => {
  const { calls, listeners } = noting();
  const sdk = sdkListeners(listeners);
  sdk.loaded?.();
  sdk.loaded?.();
  sdk.position?.({ step: "kyc" });
  sdk.error?.({ name: "Oops", message: "it broke" });
  sdk.error?.({ message: "only this" });
  sdk.close?.();
  assert.deepEqual(calls, [
    ["loaded", undefined],
    ["loaded", undefined],
    ["position", { step: "kyc" }],
    ["error", { name: "Oops", message: "it broke" }],
    ["error", { name: "", message: "only this" }],
    ["close", undefined],
  ]);
});

Deno.test("sdkListeners() has only the listeners that were given", () => {
  assert.deepEqual(Object.keys(sdkListeners({})), []);
  assert.deepEqual(Object.keys(sdkListeners({ position: () => {} })), [
    "position",
  ]);
});

Deno.test("sdkListeners() calls exactly one listener for any payload, and never throws", () => {
  fc.assert(fc.property(
    fc.constantFrom(...payloads),
    fc.anything(),
    (name, data) => {
      const { calls, listeners } = noting();
      const sdk: SdkListeners = sdkListeners(listeners);
      sdk[name]?.(data);
      assert.equal(calls.length, 1);
      const [called, event] = calls[0] ?? [];
      if (called !== "unreadable") assert.equal(called, name);
      else assert.deepEqual(event, { type: name, data });
    },
  ));
});

Deno.test("sdkListeners() drops the unreadable where nobody listens for it", () => {
  const seen: unknown[] = [];
  const sdk = sdkListeners({ position: (event) => seen.push(event) });
  for (const data of [null, [], "x", {}, { step: 5n }, { step: "" }]) {
    sdk.position?.(data);
  }
  assert.deepEqual(seen, []);
});

import assert from "node:assert/strict";
import { ExpectationError } from "./expectation_body.ts";
import { expectationBody, type OrderExpectation } from "./expectation_body.ts";

const OPTIONS = { id: "E1", now: Date.parse("2026-11-20T09:00:00Z") };

function issuesOf(expectation: object): string[] {
  try {
    expectationBody(expectation as OrderExpectation, OPTIONS);
  } catch (error) {
    assert.ok(error instanceof ExpectationError);
    assert.equal(error.code, "invalid");
    return error.issues.map(({ field, message }) => `${field} ${message}`);
  }
  return [];
}

Deno.test("expectationBody() takes every field, amounts as they are", () => {
  const every: Required<OrderExpectation> = {
    clickId: "c-1",
    reference: "basket-17",
    currency: "USD",
    currencyAmount: "900.00",
    commodity: "ETH",
    network: "ethereum",
    commodityAmount: 2,
    walletAddress: `0x${"ab".repeat(20)}`,
    userId: "u-1",
    validForMs: 60_000,
    askedAt: "2026-11-20T08:00:00Z",
  };
  assert.deepEqual(
    expectationBody(every, OPTIONS),
    {
      expectation_id: "E1",
      click_id: "c-1",
      reference: "basket-17",
      currency: "USD",
      currency_amount: "900.00",
      commodity: "ETH",
      network: "ethereum",
      commodity_amount: "2",
      wallet_address: `0x${"ab".repeat(20)}`,
      user_id: "u-1",
      valid_for_ms: 60_000,
      asked_at: "2026-11-20T08:00:00.000Z",
    },
  );
});

Deno.test("expectationBody() lists every field that is at fault", () => {
  assert.deepEqual(
    issuesOf({
      reference: "x".repeat(257),
      currencyAmount: 0.1,
      commodityAmount: "0",
      validForMs: 1.5,
      askedAt: "yesterday",
      amount: "1",
    }),
    [
      "reference is 257 bytes long; use 1 to 256 bytes in UTF-8",
      'currencyAmount is 0.1; use a decimal in quotes, such as "25.50"',
      'commodityAmount is "0"; use an amount above zero',
      "validForMs is 1.5; use whole milliseconds from 1 to 315619200000",
      'askedAt is "yesterday"; use a time such as 2026-11-20T09:00:00Z',
      "amount is unknown; use clickId, reference, validForMs, askedAt, " +
      "currency, currencyAmount, commodity, network, commodityAmount, " +
      "userId, walletAddress",
      "clickId is missing; use the click id that the widget is opened with",
      "currency is missing; currencyAmount needs it",
      "commodity is missing; commodityAmount needs it",
    ],
  );
});

Deno.test("expectationBody() refuses a click id that links nothing, and a time ahead of the clock", () => {
  assert.deepEqual(issuesOf({ clickId: "" }), [
    "clickId is empty; use 1 to 256 bytes in UTF-8",
  ]);
  assert.match(issuesOf({ clickId: "test_click_id" }).join(), /test events/);
  assert.deepEqual(
    issuesOf({ clickId: "c-1", askedAt: "2026-11-20T09:06:00Z" }),
    ['askedAt is "2026-11-20T09:06:00Z", which is in the future'],
  );
});

Deno.test("expectationBody() refuses by the rules of a session what no order would ever match", () => {
  const refused = (terms: Partial<OrderExpectation>) => {
    try {
      expectationBody({ clickId: "C1", ...terms }, { id: "E1", now: 0 });
    } catch (error) {
      assert(error instanceof ExpectationError);
      return error.issues.map(({ message }) => message).join();
    }
    return "";
  };
  for (const currency of ["US$", "USDT", "EURO", "GBP"]) {
    assert.equal(
      refused({ currency, currencyAmount: "10" }),
      `is "${currency}"; use USD or EUR`,
    );
  }
  for (const currency of ["USD", "EUR", "usd"]) {
    assert.equal(refused({ currency, currencyAmount: "10.50" }), "");
  }
  assert.match(
    refused({ currency: "USD", currencyAmount: "49.905" }),
    /^is "49.905"; use at most 2 decimals/,
  );
  assert.equal(
    refused({ network: "polygon", walletAddress: "0xabc" }),
    "is no address of polygon; correct it",
  );
});

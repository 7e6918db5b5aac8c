import assert from "node:assert/strict";
import {
  expectationBody,
  ExpectationError,
  type OrderExpectation,
  sessionBody,
  type SessionToRecord,
} from "../recording/terms.ts";

const NOW = Date.parse("2026-11-20T09:00:00Z");
const OPTIONS = { id: "E1", now: NOW };

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

Deno.test("expectationBody() takes null for what is left out", () => {
  assert.deepEqual(issuesOf({ clickId: null, currencyAmount: null }), [
    "clickId is missing; use the click id that the widget is opened with",
  ]);
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

/** Fields of a session that are at fault. */
function wrongFields(session: SessionToRecord): string[] {
  try {
    sessionBody(session, NOW);
  } catch (error) {
    assert.ok(error instanceof ExpectationError);
    return error.issues.map(({ field }) => field);
  }
  return [];
}

Deno.test("sessionBody() takes a client's request and answer, and leaves the rest out", () => {
  const request = { currency: "USD", currency_amount: 100, phone: "+1" };
  const answer = { sessionId: "s-1", requestId: null, warnings: ["w"] };
  assert.deepEqual(
    sessionBody({ ...request, ...answer, click_id: "c-1" }, NOW),
    {
      currency: "USD",
      currency_amount: "100",
      session_id: "s-1",
      click_id: "c-1",
      flow_type: "simple",
    },
  );
});

Deno.test("sessionBody() keeps a stored body as it is, byte for byte", () => {
  const body = {
    session_id: "s",
    request_id: "r",
    flow_type: "simple_full_restrict",
  };
  assert.equal(JSON.stringify(sessionBody(body, NOW)), JSON.stringify(body));
});

Deno.test("sessionBody() refuses a session without an id", () => {
  const without = [{}, { flow_type: "simple" }, { session_id: "" }];
  for (const session of [...without, { sessionId: null }]) {
    assert.deepEqual(wrongFields(session as SessionToRecord), ["session_id"]);
  }
});

Deno.test("sessionBody() keeps what a plan expects apart from the session's own fields", () => {
  const body = sessionBody({
    session_id: "s",
    flow_type: "simple_full_restrict",
    expected: { currency: "USD", currency_amount: "900.00" },
    valid_for_ms: 60_000,
    asked_at: "2026-11-20T08:00:00Z",
  }, NOW);
  assert.deepEqual(body.expected, {
    currency: "USD",
    currency_amount: "900.00",
  });
  assert.equal(body.valid_for_ms, 60_000);
  assert.equal(body.asked_at, "2026-11-20T08:00:00.000Z");
});

Deno.test("sessionBody() lists every field that is at fault", () => {
  const wrong = {
    session_id: "x".repeat(257),
    click_id: "test_click_id",
    reference: "",
    currency_amount: 1.5,
    commodity_amount: "-1",
    asked_at: "2026-11-20T10:00:00Z",
    valid_for_ms: 0,
    expected: { currency_amount: "1e3" },
  };
  assert.deepEqual(wrongFields(wrong), [
    "session_id",
    "click_id",
    "reference",
    "currency_amount",
    "commodity_amount",
    "asked_at",
    "valid_for_ms",
    "expected.currency_amount",
  ]);
});

import assert from "node:assert/strict";
import type { RecordedEvent, SessionCreatedBody } from "../events/event.ts";
import { redactEvent } from "../erasure/redact.ts";
import { foldOrder } from "../testing/fold_order.ts";
import {
  ADDRESS,
  facts,
  ORDER,
  orderRead,
  orderWebhook,
  session,
  TX,
} from "../testing/given_facts.ts";
import { type ExpectationMatch, matchExpectations } from "./match.ts";

/** The order was created in minute 0, and costs 30 USD. */
const success = orderRead(5, "success", 5, { tx_id: TX });

function matchOf(...events: readonly RecordedEvent[]): ExpectationMatch {
  return matchExpectations(foldOrder(ORDER, facts(...events)), "production");
}

let made = 0;
const asked = (
  body: Partial<SessionCreatedBody> = {},
  minute = -1,
): RecordedEvent =>
  session(minute, {
    session_id: `session-${made++}`,
    currency: "USD",
    ...body,
  });

Deno.test("matchExpectations() finds nothing where nothing was recorded before the order", () => {
  assert.deepEqual(matchOf(success), {
    match: "nothing",
    expected: null,
    uncompared: [],
  });
  assert.equal(matchOf(asked({ currency_amount: "30" })).match, "nothing");
  const late = asked({ currency_amount: "30" }, 6);
  assert.equal(matchOf(success, late).match, "nothing");
  const elsewhere = asked({
    session_id: "session-elsewhere",
    currency_amount: "30",
    click_id: "basket-2",
  });
  const naming = orderWebhook(6, "order_complete", {}, {
    hpp_session_id: "session-elsewhere",
  });
  assert.equal(matchOf(success, elsewhere, naming).match, "nothing");
});

Deno.test("matchExpectations() compares amounts as exact decimals", () => {
  const match = (body: Partial<SessionCreatedBody>) =>
    matchOf(success, asked(body)).match;
  assert.equal(match({ currency_amount: "30.00" }), "matched");
  assert.equal(match({ currency_amount: "30.0000000000000000001" }), "differs");
  assert.equal(match({ currency_amount: "900" }), "differs");
  assert.equal(match({ currency_amount: "30", currency: "EUR" }), "differs");
  assert.equal(match({ currency_amount: "30", user_id: "other" }), "differs");
  const asset = { commodity: "ETH", commodity_amount: "0.012300000000000001" };
  assert.equal(match(asset), "matched");
  assert.equal(match({ ...asset, commodity_amount: "0.0124" }), "differs");
});

Deno.test("matchExpectations() names what could not be compared, and who left it out", () => {
  const missed = (
    body: Partial<SessionCreatedBody>,
    order: Readonly<Record<string, unknown>> = {},
  ) => {
    const read = orderRead(5, "success", 5, { tx_id: TX, ...order });
    const { match, uncompared } = matchOf(read, asked(body));
    return [match, ...uncompared.map(({ field, by }) => `${field} ${by}`)]
      .join(", ");
  };
  assert.equal(missed({}), "incomplete, currencyAmount expectation");
  assert.equal(missed({ wallet_address: "0xother" }), "differs");
  const priced = { currency_amount: "30", wallet_address: ADDRESS };
  assert.equal(missed(priced), "matched");
  for (const none of [undefined, null, "", " \u200b", true, []]) {
    assert.equal(
      missed(priced, { address: none }),
      "incomplete, address service",
    );
    assert.equal(
      missed(priced, { currency: none }),
      "incomplete, currency service, currencyAmount service",
    );
  }
  assert.equal(
    missed(priced, { currency_amount: null }),
    "incomplete, currencyAmount service",
  );
  assert.equal(missed(priced, { currency_amount: 0 }), "differs");
  const asset = { commodity: "ETH", network: "ethereum" };
  assert.equal(missed({ ...priced, ...asset }), "matched");
  assert.equal(
    missed({ ...priced, ...asset }, { crypto: "eth" }),
    "incomplete, network service",
  );
  assert.equal(
    missed({ commodity: "ETH", commodity_amount: "0.1" }, {
      crypto: "",
      crypto_amount: 0.1,
    }),
    "incomplete, commodity service, cryptoAmount service",
  );
  assert.equal(missed({ ...priced, user_id: "U" }, { user_id: "" }), "matched");
});

Deno.test("matchExpectations() does not let what states no amount vouch for another amount", () => {
  const priced = asked({ reference: "A", currency_amount: "900" });
  const open = asked({ reference: "B" });
  assert.equal(matchOf(success, priced, open).match, "differs");
});

Deno.test("matchExpectations() is not switched off by a second click", () => {
  const twice = [
    asked({ reference: "A", currency_amount: "900" }, -2),
    asked({ reference: "A", currency_amount: "900" }, -1),
  ];
  const cheap = orderRead(5, "success", 5, { currency_amount: "1.00" });
  assert.equal(matchOf(cheap, ...twice).match, "differs");
  const paid = orderRead(5, "success", 5, { currency_amount: "900" });
  assert.equal(matchOf(paid, ...twice).match, "matched");
});

Deno.test("matchExpectations() counts the latest terms of a reference", () => {
  for (const named of [{ reference: "A" }, {}]) {
    const grown = [
      asked({ ...named, currency_amount: "30" }, -2),
      asked({ ...named, currency_amount: "900" }, -1),
    ];
    assert.equal(matchOf(success, ...grown).match, "differs");
  }
});

Deno.test("matchExpectations() tells one reference from several", () => {
  const of = (reference: string | null, minute = -1) =>
    asked(
      { currency_amount: "30", ...(reference === null ? {} : { reference }) },
      minute,
    );
  assert.equal(matchOf(success, of("A"), of("B")).match, "several");
  assert.equal(matchOf(success, of("A"), of(null)).match, "several");
  assert.equal(matchOf(success, of(null), of(null)).match, "matched");
  const other = asked({ reference: "B", currency_amount: "900" });
  const { match, expected } = matchOf(success, of("A", -2), other);
  assert.equal(match, "matched");
  assert.equal(expected?.reference, "A");
});

Deno.test("matchExpectations() cannot tell where more than sixteen were recorded", () => {
  const clicks = Array.from(
    { length: 17 },
    () => asked({ reference: "A", currency_amount: "30" }),
  );
  assert.equal(matchOf(success, ...clicks.slice(1)).match, "matched");
  assert.deepEqual(matchOf(success, ...clicks), {
    match: "several",
    expected: null,
    uncompared: [],
  });
});

Deno.test("matchExpectations() names what an order that differs was compared with", () => {
  const first = asked({ reference: "A", currency_amount: "900" }, -3);
  const open = asked({ reference: "B" }, -2);
  assert.equal(matchOf(success, first, open).expected?.reference, "A");
});

Deno.test("matchExpectations() names the terms that were paid for while a pruned reading can still be compared", () => {
  const terms = [
    asked({ currency_amount: "30", reference: "paid" }, -2),
    asked({ currency_amount: "900", reference: "other" }),
  ];
  const whole = matchOf(success, ...terms);
  const pruned = redactEvent(success, {
    randomBytes: (length) => new Uint8Array(length).fill(7),
    ...{ userId: success.userId, clickId: success.clickId },
    match: whole.match,
  });
  for (const found of [whole, matchOf(pruned, ...terms)]) {
    assert.equal(found.match, "matched");
    assert.equal(found.expected?.reference, "paid");
  }
});

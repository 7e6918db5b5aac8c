import fc from "fast-check";
import assert from "node:assert/strict";
import type { EventKind } from "../machines/machine.ts";
import { MOST_VALID_FOR_MS, type RecordedEvent } from "./event.ts";
import {
  absentRead,
  at,
  contradiction,
  erased,
  expectation,
  ORDER,
  orderRead,
  orderWebhook,
  session,
  USER,
  userRead,
  userWebhook,
  webhookAt,
} from "../testing/given_facts.ts";
import { foldOrder } from "../testing/fold_order.ts";
import { foldUser } from "../testing/fold_user.ts";
import { isExpectation } from "./fact.ts";
import { readFact } from "./read_fact.ts";
import { redactEvent } from "../erasure/redact.ts";
import { orderState } from "../states/order_state.ts";
import { userState } from "../users/user_state.ts";

const utf8 = new TextEncoder();

/** An event whose body is replaced, its columns kept. */
function withBody(event: RecordedEvent, body: string): RecordedEvent {
  return { ...event, body: utf8.encode(body) };
}

const oneOfEach: readonly RecordedEvent[] = [
  orderWebhook(1, "order_complete"),
  userWebhook(1, "login", "success"),
  orderRead(1, "success", 1),
  userRead(1, { lkyc_status: "success" }),
  absentRead(1),
  contradiction("success", 1),
  session(1),
  expectation(1),
];

Deno.test("readFact() reads each kind of event", () => {
  assert.deepEqual(oneOfEach.map((event) => readFact(event).kind), [
    "webhook",
    "webhook",
    "order_snapshot",
    "user_snapshot",
    "order_absent",
    "order_contradicted",
    "session_created",
    "order_expected",
  ]);
});

Deno.test("readFact() keeps the claim of an event that an earlier version erased, and says of others that they were", () => {
  const facts = oneOfEach.map((event) => readFact(erased(event)));
  assert.deepEqual(facts.map(({ kind }) => kind), [
    "webhook",
    "webhook",
    "unreadable",
    "unreadable",
    "order_absent",
    "unreadable",
    "unreadable",
    "unreadable",
  ]);
  const [claim, login] = facts;
  assert.ok(claim?.kind === "webhook" && login?.kind === "webhook");
  assert.equal(claim.claim, "success");
  assert.equal(claim.orderId, ORDER);
  assert.equal(claim.body?.txId, null);
  assert.equal(login.userId, USER);
  assert.equal(login.lkyc, null);
});

Deno.test("readFact() takes a type with NUL for none, so that an erasure does not make a claim of it", () => {
  const order = { id: ORDER };
  const event = webhookAt(1, {
    type: "order_complete\0",
    click_id: "",
    order,
  });
  assert.equal(event.type, null);
  assert.equal(readFact(event).kind, "unreadable");
  const left = redactEvent(event, { randomBytes: (n) => new Uint8Array(n) });
  assert.equal(readFact(left).kind, "unreadable");
});

Deno.test("readFact() reads the same claim of a webhook before and after its body is taken out", () => {
  const event = webhookAt(1, {
    type: "order_complete",
    click_id: "",
    order: { id: ORDER, quote: 840, quote_amount: 10.5, base: 7 },
  });
  const left = redactEvent(event, { randomBytes: (n) => new Uint8Array(n) });
  const [before, after] = [event, left].map((one) => {
    const fact = readFact(one);
    return fact.kind === "webhook" ? { ...fact.body, digest: "" } : fact;
  });
  assert.deepEqual(after, before);
});

Deno.test("readFact() reads a row to which the service adds a field `erased`", () => {
  const row = { order_id: ORDER, status: "success", erased: true };
  const fact = readFact(withBody(
    orderRead(1, "success", 1),
    JSON.stringify(row),
  ));
  assert.equal(fact.kind, "order_snapshot");
});

Deno.test("readFact() keeps amounts of readings exact", () => {
  const fact = readFact(withBody(
    orderRead(1, "success", 1),
    `{"order_id":"${ORDER}","status":"success","crypto_amount":123456789012345678901234567890.000000000000000001,"partner_fee":1e-7}`,
  ));
  assert.ok(fact.kind === "order_snapshot");
  assert.equal(
    fact.reading.cryptoAmount,
    "123456789012345678901234567890.000000000000000001",
  );
  assert.equal(fact.reading.partnerFee, "0.0000001");
});

Deno.test("readFact() reads documented statuses in any case and keeps others", () => {
  const status = (text: unknown) => {
    const fact = readFact(
      withBody(
        orderRead(1, "success", 1),
        JSON.stringify({ order_id: ORDER, status: text }),
      ),
    );
    return fact.kind === "order_snapshot" ? fact.reading.status : fact.kind;
  };
  assert.equal(status("Success"), "success");
  assert.equal(status("canceled"), "cancelled");
  assert.equal(status("On Hold"), "On Hold");
  for (const none of ["", undefined, null, {}, true]) {
    assert.equal(status(none), "");
  }
});

Deno.test("readFact() makes text well formed and free of NUL, so that any database can hold it", () => {
  const fact = readFact(webhookAt(
    1,
    `{"type":"order_complete","click_id":"","order":{"id":"${ORDER}","address":"a\\ud800\\u0000b"}}`,
  ));
  assert.ok(fact.kind === "webhook");
  assert.equal(fact.body?.address, "a\ufffdb");
});

Deno.test("readFact() cuts overlong text of a webhook, which anybody may post", () => {
  const fact = readFact(
    orderWebhook(1, "order_complete", { address: "\u{1f600}".repeat(50_000) }),
  );
  assert.ok(fact.kind === "webhook");
  assert.ok((fact.body?.address ?? "").length <= 8_192);
  assert.ok(fact.body?.address?.isWellFormed());
});

Deno.test("readFact() counts a test event and routes it nowhere", () => {
  const event = webhookAt(1, {
    type: "test",
    click_id: "odd",
    user: { user_id: USER },
    order: { id: "x" },
  });
  for (const fact of [readFact(event), readFact(erased(event))]) {
    assert.equal(fact.label, "test");
    assert.deepEqual([fact.orderId, fact.userId, fact.clickId], [
      null,
      null,
      null,
    ]);
  }
});

Deno.test("readFact() reads what the partner expects, with a session and without one", () => {
  const terms = {
    reference: "invoice-7",
    currency: "usd",
    currency_amount: "900.00",
    commodity: "eth",
    network: "ethereum",
    commodity_amount: "0.1",
    wallet_address: "0xAbC1",
    user_id: USER,
    asked_at: "2026-11-19T00:00:00Z",
    valid_for_ms: 60_000,
  };
  const read = {
    clickId: "basket-1",
    reference: "invoice-7",
    commodity: "ETH",
    network: "ethereum",
    commodityAmount: "0.1",
    currency: "USD",
    currencyAmount: "900.00",
    walletAddress: "0xAbC1",
    userId: USER,
    recordedAt: at(1),
    askedAt: "2026-11-19T00:00:00.000Z",
    validForMs: 60_000,
  };
  const expectationOf = (event: RecordedEvent) => {
    const fact = readFact(event);
    assert.ok(isExpectation(fact));
    return fact.expectation;
  };
  assert.deepEqual(
    expectationOf(expectation(1, { ...terms, expectation_id: "E-1" })),
    { ...read, id: "E-1", sessionId: null, flowType: null },
  );
  assert.deepEqual(expectationOf(session(1, terms)), {
    ...read,
    id: "session-1",
    sessionId: "session-1",
    flowType: "simple_full_restrict",
  });
});

Deno.test("readFact() lets what a plan expects count in place of the session's own fields", () => {
  const fact = readFact(session(1, {
    currency: "USD",
    commodity: "POL",
    expected: { currency_amount: "900", commodity: "ETH" },
  }));
  assert.ok(isExpectation(fact));
  const { currency, currencyAmount, commodity } = fact.expectation;
  assert.deepEqual([currency, currencyAmount, commodity], [
    "USD",
    "900",
    "ETH",
  ]);
});

Deno.test("readFact() takes an expectation for valid for seven days where it says nothing that is a duration", () => {
  const week = 7 * 24 * 60 * 60_000;
  for (const stated of [undefined, null, 0, -1, "soon", {}, "1e999"]) {
    const fact = readFact(expectation(1, { valid_for_ms: stated as number }));
    assert.ok(isExpectation(fact));
    const expected = stated === "1e999" ? MOST_VALID_FOR_MS : week;
    assert.equal(fact.expectation.validForMs, expected, String(stated));
  }
});

Deno.test("readFact() reads which delivery was not answered", () => {
  const event: RecordedEvent = {
    ...session(1),
    kind: "delivery_unanswered",
    body: utf8.encode(`{"event_id":"D1","answer":"late"}`),
  };
  const fact = readFact(event);
  assert.ok(fact.kind === "delivery_unanswered");
  assert.equal(fact.deliveryId, "D1");
  assert.equal(fact.orderId, null);
});

const kinds: readonly EventKind[] = [
  "webhook",
  "order_snapshot",
  "user_snapshot",
  "order_absent",
  "order_contradicted",
  "session_created",
  "order_expected",
  "delivery_unanswered",
  "order_redacted",
  "month_closed",
];

Deno.test("readFact() and the folds never throw, whatever the body and the columns", () => {
  const id = fc.constantFrom(null, ORDER);
  const body = fc.oneof(
    fc.json(),
    fc.string(),
    fc.jsonValue().map((value) =>
      JSON.stringify({
        type: value,
        status: value,
        order: { id: ORDER, address: value, partner_data: value },
        user: value,
        session_id: value,
        expectation_id: value,
        expected: value,
        asked_at: value,
        valid_for_ms: value,
        up_to: value,
        limits: value,
        linked_payment_methods: value,
        crypto: value,
        changed_at: value,
      })
    ),
  );
  fc.assert(
    fc.property(
      fc.constantFrom(...kinds),
      fc.constantFrom(null, "order_complete", "login", "odd", "__proto__"),
      id,
      fc.constantFrom(null, USER),
      fc.oneof(fc.constant(""), body),
      (kind, type, orderId, userId, text) => {
        const fact = readFact({
          position: 1,
          eventId: "E1",
          kind,
          type,
          orderId,
          userId,
          clickId: null,
          occurredAt: null,
          recordedAt: at(1),
          readAt: null,
          body: utf8.encode(text),
          digest: "d",
          salt: new Uint8Array(16),
        });
        orderState(foldOrder(ORDER, [fact]));
        userState(foldUser(USER, [fact]));
        assert.equal(fact.position, 1);
      },
    ),
    { numRuns: 1_000 },
  );
});

Deno.test("readFact() cuts what a webhook claims at bytes, and leaves identifiers whole", () => {
  const long = "\u754c".repeat(80);
  const bytes = (text: unknown) =>
    new TextEncoder().encode(String(text)).length;
  const fact = readFact(orderWebhook(1, "order_complete", {
    external_order_id: long,
    transaction_id: long,
    quote: "\u0149".repeat(80),
    quote_amount: "1".repeat(80),
  }, { hpp_session_id: long }));
  assert.ok(fact.kind === "webhook" && fact.body !== null);
  assert.equal(fact.sessionId, long);
  assert.equal(fact.body.externalOrderId, long);
  assert.equal(bytes(fact.body.txId), 126);
  // In capitals it is two characters, of two bytes and of one.
  assert.equal(bytes(fact.body.currency), 30 + 2);
  assert.equal(bytes(fact.body.currencyAmount), 32);
});

import assert from "node:assert/strict";
import { ExpectationError } from "./expectation_body.ts";
import { sessionBody } from "./expectation_body.ts";

const NOW = Date.parse("2026-11-20T09:00:00Z");

/** Fields that a call finds at fault. */
function issuesOf(call: () => unknown): string[] {
  try {
    call();
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
  for (const session of [{ flow_type: "simple" }, { session_id: "" }]) {
    assert.deepEqual(issuesOf(() => sessionBody(session, NOW)), ["session_id"]);
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
  assert.deepEqual(issuesOf(() => sessionBody(wrong, NOW)), [
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

import assert from "node:assert/strict";
import { sessionBody } from "./session_record.ts";

Deno.test("sessionBody() takes a client's request and answer, and leaves the rest out", () => {
  const request = { currency: "USD", currency_amount: 100, phone: "+1" };
  const answer = { sessionId: "s-1", requestId: null, warnings: ["w"] };
  assert.deepEqual(sessionBody({ ...request, ...answer, click_id: "c-1" }), {
    currency: "USD",
    currency_amount: "100",
    session_id: "s-1",
    click_id: "c-1",
    flow_type: "simple",
  });
});

Deno.test("sessionBody() keeps a stored body as it is, byte for byte", () => {
  const body = {
    session_id: "s",
    request_id: "r",
    flow_type: "simple_full_restrict",
  };
  assert.equal(JSON.stringify(sessionBody(body)), JSON.stringify(body));
});

Deno.test("sessionBody() refuses a session without an id", () => {
  assert.throws(() => sessionBody({ flow_type: "simple" }), TypeError);
  assert.throws(() => sessionBody({ session_id: "" }), TypeError);
});

import assert from "node:assert/strict";
import fc from "fast-check";
import { SessionTicket } from "./session_opener.ts";

Deno.test("SessionTicket is fresh for less than its thirty seconds", () => {
  const ticket = new SessionTicket({ sessionId: "s", askedAt: 1_000 });
  assert.equal(ticket.state(1_000), "fresh");
  assert.equal(ticket.state(28_999), "fresh");
  assert.equal(ticket.state(29_000), "stale");
  assert.equal(ticket.state(31_000), "stale");
});

Deno.test("SessionTicket is stale when the clock was set back", () => {
  const ticket = new SessionTicket({ sessionId: "s", askedAt: 1_000 });
  assert.equal(ticket.state(999), "stale");
});

Deno.test("SessionTicket gives its session once, and says why not", () => {
  const ticket = new SessionTicket({ sessionId: "secret-1", askedAt: 0 });
  assert.throws(() => ticket.take(30_000), {
    name: "SessionError",
    code: "stale",
  });
  assert.equal(ticket.take(1), "secret-1");
  assert.equal(ticket.state(1), "used");
  assert.throws(() => ticket.take(2), (error: Error) => {
    assert.equal(error.name, "SessionError");
    assert.doesNotMatch(error.message, /secret/);
    return true;
  });
});

Deno.test("SessionTicket never gives a session twice or late, at any times", () => {
  fc.assert(fc.property(
    fc.nat(100_000),
    fc.array(fc.nat(200_000), { maxLength: 20 }),
    (askedAt, times) => {
      const ticket = new SessionTicket({ sessionId: "s", askedAt });
      let taken = 0;
      for (const now of times) {
        try {
          ticket.take(now);
          taken++;
          assert.ok(now >= askedAt && now - askedAt < 30_000);
        } catch (error) {
          assert.equal((error as Error).name, "SessionError");
        }
      }
      assert.ok(taken <= 1);
    },
  ));
});

Deno.test("SessionTicket keeps the session out of logs and JSON", () => {
  const ticket = new SessionTicket({ sessionId: "secret-1", askedAt: 0 });
  assert.doesNotMatch(JSON.stringify(ticket), /secret/);
  assert.doesNotMatch(Deno.inspect(ticket), /secret/);
});

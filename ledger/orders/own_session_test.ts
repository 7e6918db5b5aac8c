import fc from "fast-check";
import assert from "node:assert/strict";
import type { RecordedEvent } from "../events/event.ts";
import {
  facts,
  ORDER,
  orderRead,
  orderWebhook,
  serviceTime,
  session,
} from "./given_test.ts";
import { foldOrder } from "../explain/as_of.ts";
import { SESSIONS_KEPT } from "./sessions.ts";
import { orderState } from "./state_of_order.ts";

const stateOf = (...events: RecordedEvent[]) =>
  orderState(foldOrder(ORDER, facts(...events)));

/** Which session the order has, how sure it is, and what is odd about it. */
function told(...events: RecordedEvent[]): string {
  const { asked, sessionTrust, anomalies } = stateOf(...events);
  const odd = anomalies.some(({ kind }) => kind === "session_mismatch")
    ? " mismatch"
    : "";
  return `${asked?.sessionId ?? "none"} ${sessionTrust}${odd}`;
}

const made = (minute: number, session_id: string, click_id = "basket-1") =>
  session(minute, { session_id, click_id });
const named = (session_id: string, minute = 12, click_id = "basket-1") =>
  orderWebhook(minute, "payment_started", {}, {
    hpp_session_id: session_id,
    click_id,
  });
/** The service shows the order, created at minute 10. */
const read = (click_id = "basket-1") =>
  orderRead(20, "progress", 11, { created_at: serviceTime(10), click_id });

Deno.test("ownSession() confirms the only session recorded under the click id that the service shows", () => {
  assert.equal(told(read(), made(8, "ours")), "ours confirmed");
  assert.equal(told(read(), made(8, "ours"), named("ours")), "ours confirmed");
  assert.equal(
    told(read(), made(8, "ours"), made(9, "ours")),
    "ours confirmed",
    "recorded twice is one session",
  );
});

Deno.test("ownSession() ignores a session that a webhook names outside the candidates, and says so", () => {
  const expensive = made(8, "expensive", "basket-2");
  assert.equal(
    told(read(), made(8, "ours"), expensive, named("expensive")),
    "ours confirmed mismatch",
  );
  assert.equal(
    told(read(), made(8, "ours"), named("never recorded")),
    "ours confirmed mismatch",
  );
  assert.equal(
    told(
      read(),
      made(8, "ours"),
      expensive,
      named("expensive", 12, "basket-2"),
    ),
    "ours confirmed mismatch",
    "nor does a forged click id help",
  );
});

Deno.test("ownSession() claims one of several sessions: that which a webhook names, else the last before the order", () => {
  const several = [made(6, "s-6"), made(8, "s-8"), made(30, "s-30")];
  assert.equal(told(read(), ...several), "s-8 claimed");
  assert.equal(told(read(), ...several, named("s-6")), "s-6 claimed");
  assert.equal(
    told(read(), ...several, named("s-30")),
    "s-8 claimed mismatch",
    "made long after the order",
  );
  assert.equal(
    told(read(), made(14, "s-14"), made(15, "s-15")),
    "s-14 claimed",
  );
});

Deno.test("ownSession() claims the named session while the service shows no click id, or none was recorded under it", () => {
  const ours = made(8, "ours");
  assert.equal(told(ours, named("ours")), "ours claimed");
  assert.equal(told(read(""), ours, named("ours")), "ours claimed");
  assert.equal(told(read("basket-9"), ours, named("ours")), "ours claimed");
  assert.equal(told(read("basket-9"), ours), "none null");
  assert.equal(told(orderWebhook(12, "payment_started"), ours), "none null");
});

Deno.test("ownSession() lets one session own several orders", () => {
  const other = orderRead(21, "progress", 12, { order_id: "01HZOTHER" });
  const all = facts(read(), other, made(0, "ours"));
  for (const id of [ORDER, "01HZOTHER"]) {
    const { asked, sessionTrust } = orderState(foldOrder(id, all));
    assert.equal(`${asked?.sessionId} ${sessionTrust}`, "ours confirmed");
  }
});

Deno.test("ownSession() dates an order by its readings alone: no webhook moves what was made before it", () => {
  const early = named("never recorded", 1);
  assert.equal(told(early, read(), made(8, "ours")), "ours confirmed mismatch");
  // The earliest creation counts, whichever reading shows it.
  const later = orderRead(30, "progress", 25, {
    created_at: serviceTime(24),
  });
  for (const readings of [[read(), later], [later, read()]]) {
    assert.equal(
      told(...readings, made(8, "ours"), made(28, "late")),
      "ours confirmed",
    );
  }
});

Deno.test("ownSession() follows the click id of the latest reading", () => {
  const sessions = [made(5, "one"), made(5, "two", "basket-2")];
  const moved = orderRead(25, "pending", 22, { click_id: "basket-2" });
  assert.equal(told(read(), ...sessions), "one confirmed");
  assert.equal(told(read(), moved, ...sessions), "two confirmed");
});

Deno.test("addSession() keeps the sessions that were named first, however many are forged later", () => {
  const forged = Array.from(
    { length: 40 },
    (_, n) => named(`${String(n).padStart(3, "0")}`, 13 + n),
  );
  const sessions = [made(6, "s-6"), made(8, "s-8")];
  assert.equal(
    told(named("s-6"), ...forged, read(), ...sessions),
    "s-6 claimed mismatch",
  );
  const state = stateOf(...forged, named("s-6"));
  assert.equal(state.sessions.length, SESSIONS_KEPT);
  assert.ok(state.sessions.includes("s-6"));
});

const forgery = fc.record({
  minute: fc.integer({ min: 0, max: 90 }),
  type: fc.constantFrom(
    "payment_started",
    "transfer_started",
    "order_complete",
    "order_failed",
    "order_cancelled",
  ),
  session: fc.constantFrom(undefined, "ours", "expensive", "s-1", "s-2", "s-3"),
  click: fc.constantFrom("basket-1", "basket-2", "", undefined),
  amount: fc.constantFrom("30", "9999"),
  address: fc.constantFrom("0xabc1", "0xF0"),
  tx: fc.constantFrom(null, "0x1", "0xF1"),
}).map((one) =>
  orderWebhook(one.minute, one.type, {
    quote_amount: one.amount,
    address: one.address,
    transaction_id: one.tx,
  }, { hpp_session_id: one.session, click_id: one.click })
);

Deno.test("ownSession() and decideRelease() stay what they are under any stream of forged webhooks over a confirmed order", () => {
  const status = fc.constantFrom("success", "failed", "cancelled");
  const sessions = fc.uniqueArray(
    fc.record({
      minute: fc.integer({ min: 0, max: 20 }),
      id: fc.constantFrom("ours", "expensive", "s-1", "s-2"),
      click: fc.constantFrom("basket-1", "basket-1", "basket-2"),
      amount: fc.constantFrom("30", "40", undefined),
    }),
    { selector: ({ id }) => id },
  );
  fc.assert(
    fc.property(
      fc.array(status, { minLength: 1, maxLength: 3 }),
      sessions,
      fc.array(forgery, { maxLength: 40 }),
      (statuses, sessions, forged) => {
        const true_ = [
          ...statuses.map((status, n) =>
            orderRead(20 + n, status, 11 + n, {
              created_at: serviceTime(10),
              tx_id: status === "success" ? "0x1" : "",
            })
          ),
          ...sessions.map(({ minute, id, click, amount }) =>
            session(minute, {
              session_id: id,
              click_id: click,
              ...(amount && { currency: "USD", currency_amount: amount }),
            })
          ),
        ];
        const before = stateOf(...true_);
        const after = stateOf(...true_, ...forged);
        assert.equal(after.release, before.release);
        assert.equal(after.trust, "confirmed");
        if (before.sessionTrust === "confirmed") {
          assert.deepEqual(after.asked, before.asked);
          assert.equal(after.sessionTrust, "confirmed");
        } else {
          assert.notEqual(after.sessionTrust, "confirmed");
        }
        // Several candidates: a webhook only chooses among them.
        if (before.asked !== null) {
          const candidates = sessions.filter(({ minute, click }) =>
            click === "basket-1" && minute <= 15
          ).map(({ id }) => id);
          const id = after.asked?.sessionId ?? "";
          assert.ok((candidates as string[]).includes(id), id);
        }
      },
    ),
    { numRuns: 500 },
  );
});

import fc from "fast-check";
import assert from "node:assert/strict";
import type { RecordedEvent } from "../events/event.ts";
import {
  ADDRESS,
  facts,
  ORDER,
  orderRead,
  orderWebhook,
  serviceTime,
  session,
} from "../testing/given_facts.ts";
import { foldOrder } from "../testing/fold_order.ts";
import { SESSIONS_KEPT } from "../orders/order_fold.ts";
import { OUTCOME_WORDS } from "../../resources/wording/outcome.ts";
import { type OrderState, orderState } from "../states/order_state.ts";

const stateOf = (...events: RecordedEvent[]) =>
  orderState(foldOrder(ORDER, facts(...events)));

/** The session that the order is compared with, and what is odd about it. */
function told(...events: RecordedEvent[]): string {
  const { expected, anomalies } = stateOf(...events);
  const odd = anomalies.some(({ kind }) => kind === "session_mismatch")
    ? " mismatch"
    : "";
  return `${expected?.sessionId ?? "none"}${odd}`;
}

const made = (minute: number, session_id: string, click_id = "basket-1") =>
  session(minute, { session_id, click_id });
const named = (session_id: string, minute = 12, click_id = "basket-1") =>
  orderWebhook(minute, "payment_started", {}, {
    hpp_session_id: session_id,
    click_id,
  });
/** The service shows the order, created at minute 10. */
const read = (click_id = "basket-1", status = "progress") =>
  orderRead(20, status, 11, { created_at: serviceTime(10), click_id });

Deno.test("matchExpectations() takes the only session recorded under the click id that the service shows", () => {
  assert.equal(told(read(), made(8, "ours")), "ours");
  assert.equal(told(read(), made(8, "ours"), named("ours")), "ours");
  assert.equal(
    told(read(), made(8, "ours"), made(9, "ours")),
    "ours",
    "recorded twice is one session",
  );
});

Deno.test("matchExpectations() ignores a session that a webhook names outside the candidates, and says so", () => {
  const expensive = made(8, "expensive", "basket-2");
  assert.equal(
    told(read(), made(8, "ours"), expensive, named("expensive")),
    "ours mismatch",
  );
  assert.equal(
    told(read(), made(8, "ours"), named("never recorded")),
    "ours mismatch",
  );
  assert.equal(
    told(
      read(),
      made(8, "ours"),
      expensive,
      named("expensive", 12, "basket-2"),
    ),
    "ours mismatch",
    "nor does a forged click id help",
  );
});

Deno.test("matchExpectations() takes the last of several before the order, whatever a webhook names", () => {
  const several = [made(6, "s-6"), made(8, "s-8"), made(30, "s-30")];
  const shown = read("basket-1", "success");
  assert.equal(told(shown, ...several), "s-8");
  assert.equal(told(shown, ...several, named("s-6")), "s-8");
  assert.equal(told(shown, ...several, named("s-30")), "s-8 mismatch");
  assert.equal(told(read(), ...several), "s-30", "success was not read yet");
});

Deno.test("matchExpectations() compares with nothing while the service shows no click id, or nothing was recorded under it", () => {
  const ours = made(8, "ours");
  assert.equal(told(ours, named("ours")), "none");
  assert.equal(told(read(""), ours, named("ours")), "none");
  assert.equal(told(read("basket-9"), ours, named("ours")), "none");
});

Deno.test("matchExpectations() lets one session own several orders", () => {
  const other = orderRead(21, "progress", 12, { order_id: "01HZOTHER" });
  const all = facts(read(), other, made(0, "ours"));
  for (const id of [ORDER, "01HZOTHER"]) {
    assert.equal(orderState(foldOrder(id, all)).expected?.sessionId, "ours");
  }
});

Deno.test("matchExpectations() dates an order by its readings alone: no webhook moves what was made before it", () => {
  const early = named("never recorded", 1);
  assert.equal(told(early, read(), made(8, "ours")), "ours mismatch");
  // The earliest creation counts, whichever reading shows it.
  const later = orderRead(30, "success", 25, {
    created_at: serviceTime(24),
  });
  for (const readings of [[read(), later], [later, read()]]) {
    assert.equal(
      told(...readings, made(8, "ours"), made(32, "late")),
      "ours",
    );
  }
});

Deno.test("matchExpectations() follows the click id of the latest reading", () => {
  const sessions = [made(5, "one"), made(5, "two", "basket-2")];
  const moved = orderRead(25, "pending", 22, { click_id: "basket-2" });
  assert.equal(told(read(), ...sessions), "one");
  assert.equal(told(read(), moved, ...sessions), "two");
});

Deno.test("addSession() keeps the sessions that were named first, however many are forged later", () => {
  const forged = Array.from(
    { length: 40 },
    (_, n) => named(`${String(n).padStart(3, "0")}`, 13 + n),
  );
  const sessions = [made(6, "s-6"), made(8, "s-8")];
  assert.equal(
    told(named("s-6"), ...forged, read(), ...sessions),
    "s-8 mismatch",
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
  address: fc.constantFrom(ADDRESS, "0xF0"),
  tx: fc.constantFrom(null, "0x1", "0xF1"),
}).map((one) =>
  orderWebhook(one.minute, one.type, {
    quote_amount: one.amount,
    address: one.address,
    transaction_id: one.tx,
  }, { hpp_session_id: one.session, click_id: one.click })
);

Deno.test("orderState() keeps release, reason, booking, attention and session under any stream of forged webhooks over an order that was shown", () => {
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
        const decided = (
          { expected, outcome, release, releaseReason, booked, attention }:
            OrderState,
        ) => ({ expected, outcome, release, releaseReason, booked, attention });
        assert.deepEqual(decided(after), decided(before));
        const { headline } = OUTCOME_WORDS[after.outcome];
        assert.equal(headline(after), headline(before), "nor the headline");
        assert.equal(after.trust, "confirmed");
      },
    ),
    { numRuns: 500 },
  );
});

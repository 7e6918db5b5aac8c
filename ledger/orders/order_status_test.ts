import assert from "node:assert/strict";
import type { RecordedEvent } from "../events/event.ts";
import {
  absentRead,
  contradiction,
  facts,
  ORDER,
  orderRead,
  orderWebhook,
  redelivered,
  TX,
  webhookAt,
} from "../testing/given_facts.ts";
import { foldOrder } from "../testing/fold_order.ts";
import { isFinal, orderRank } from "../machines/machine.ts";
import {
  orderReason,
  type OrderState,
  orderState,
} from "../states/order_state.ts";
import { decideOrderStatus } from "./order_status.ts";

function stateOf(...events: RecordedEvent[]): OrderState {
  return orderState(foldOrder(ORDER, facts(...events)));
}

function seen(...events: RecordedEvent[]): string {
  const state = stateOf(...events);
  return `${state.status} ${state.trust}`;
}

function anomalies(...events: RecordedEvent[]): string[] {
  return stateOf(...events).anomalies.map(({ kind }) => kind);
}

Deno.test("orderRank() ranks created < progress < pending < failed < success < cancelled < unknown", () => {
  assert.deepEqual(
    ["created", "progress", "pending", "failed", "success", "cancelled", "odd"]
      .map(orderRank),
    [0, 1, 2, 3, 4, 5, 6],
  );
  assert.deepEqual(
    ["created", "progress", "pending", "failed", "success", "cancelled", "odd"]
      .filter(isFinal),
    ["failed", "success", "cancelled"],
  );
});

Deno.test("decideOrderStatus() takes the latest reading by changed_at, however late it was read", () => {
  assert.equal(
    seen(orderRead(30, "progress", 1), orderRead(20, "pending", 2)),
    "pending confirmed",
  );
});

Deno.test("decideOrderStatus() takes the reading of higher rank when changed_at is equal", () => {
  assert.equal(
    seen(orderRead(20, "pending", 2), orderRead(30, "progress", 2)),
    "pending confirmed",
  );
});

Deno.test("decideOrderStatus() takes the reading read later when changed_at and rank are equal", () => {
  const state = stateOf(
    orderRead(30, "progress", 2, { card_brand: "VISA" }),
    orderRead(20, "progress", 2, { card_brand: "MASTERCARD" }),
  );
  assert.equal(state.cardBrand, "VISA");
});

Deno.test("decideOrderStatus() takes the reading of higher digest when all that an erasure keeps is equal", () => {
  const one = orderRead(30, "progress", 2, { card_brand: "VISA" });
  const two = orderRead(30, "progress", 2, { card_brand: "MASTERCARD" });
  const expected = (one.digest ?? "") > (two.digest ?? "")
    ? "VISA"
    : "MASTERCARD";
  assert.equal(stateOf(one, two).cardBrand, expected);
  assert.equal(stateOf(two, one).cardBrand, expected);
});

Deno.test("decideOrderStatus() takes a reading without changed_at as of when it was made", () => {
  assert.equal(
    seen(orderRead(30, "success", null), orderRead(20, "pending", 2)),
    "success confirmed",
  );
  assert.equal(
    seen(orderRead(20, "success", null), orderRead(30, "pending", 2)),
    "pending confirmed",
  );
  assert.equal(
    seen(orderRead(30, "pending", null), orderRead(20, "progress", null)),
    "pending confirmed",
  );
  assert.equal(
    seen(orderRead(20, "success", null), orderRead(30, "failed", null)),
    "failed confirmed",
  );
  assert.equal(
    seen(orderRead(30, "success", null), orderRead(30, "failed", null)),
    "success confirmed",
  );
});

const claims = [
  ["payment_started", "progress"],
  ["transfer_started", "pending"],
  ["order_complete", "success"],
  ["order_failed", "failed"],
  ["order_cancelled", "cancelled"],
  ["order_canceled", "cancelled"],
] as const;

for (const [type, status] of claims) {
  Deno.test(`decideOrderStatus() takes ${type} as a claim of ${status}`, () => {
    const state = stateOf(orderWebhook(1, type));
    assert.equal(`${state.status} ${state.trust}`, `${status} claimed`);
    assert.equal(state.transferSeen, type === "transfer_started");
  });
}

Deno.test("highestClaim() leaves out a claim when it is contradicted up to its last receipt", () => {
  assert.equal(
    seen(
      orderWebhook(1, "payment_started"),
      orderWebhook(5, "order_complete"),
      contradiction("success", 5),
    ),
    "progress claimed",
  );
});

Deno.test("highestClaim() counts a claim again when it is received after the contradiction", () => {
  const complete = orderWebhook(5, "order_complete");
  assert.equal(
    seen(complete, contradiction("success", 5), redelivered(complete, 6)),
    "success claimed",
  );
  assert.equal(
    seen(
      complete,
      contradiction("success", 5),
      redelivered(complete, 6),
      contradiction("success", 6),
    ),
    "created claimed",
  );
});

Deno.test("contestingClaims() gives the final claim when it differs from a final reading", () => {
  assert.deepEqual(
    anomalies(orderRead(2, "failed", 2), orderWebhook(9, "order_complete")),
    ["contested"],
  );
  assert.deepEqual(
    anomalies(orderRead(2, "failed", 2), orderWebhook(9, "payment_started")),
    [],
    "a claim that is not final contests nothing",
  );
  assert.deepEqual(
    anomalies(orderRead(2, "failed", 2), orderWebhook(9, "order_failed")),
    [],
    "a claim that agrees contests nothing",
  );
  assert.deepEqual(
    anomalies(
      orderRead(2, "failed", 2),
      orderWebhook(9, "order_complete"),
      contradiction("success", 9),
    ),
    ["contradicted"],
    "a contradicted claim contests nothing any more",
  );
});

Deno.test("decideOrderStatus() confirms an unknown status, which is never final and is contested by a final claim", () => {
  const state = stateOf(
    orderRead(2, "on_hold", 2),
    orderWebhook(9, "order_complete"),
  );
  assert.equal(`${state.status} ${state.trust}`, "on_hold confirmed");
  assert.equal(isFinal(state.status), false);
  assert.deepEqual(state.anomalies.map(({ kind }) => kind), [
    "contested",
    "unrecognised_status",
  ]);
  assert.equal(
    seen(orderRead(2, "on_hold", 2), orderRead(3, "success", 3)),
    "success confirmed",
  );
});

Deno.test("orderState() never goes back when a webhook is late or repeated", () => {
  const started = orderWebhook(1, "payment_started");
  const complete = orderWebhook(3, "order_complete");
  const cancelled = orderRead(4, "cancelled", 4);
  const shown = orderRead(3, "success", 3);
  assert.equal(
    seen(complete, started, redelivered(started, 900)),
    "success claimed",
  );
  const history = [started, complete, shown, cancelled];
  assert.equal(
    seen(...history, redelivered(complete, 900), redelivered(started, 901)),
    "cancelled confirmed",
  );
});

Deno.test("orderState() changes a confirmed final status only when a later reading differs", () => {
  const success = orderRead(3, "success", 3);
  assert.equal(
    seen(success, orderRead(9, "pending", 2)),
    "success confirmed",
    "an older state read later is older",
  );
  assert.equal(
    seen(success, orderRead(9, "cancelled", 5)),
    "cancelled confirmed",
  );
  assert.equal(seen(success, absentRead(20)), "success confirmed");
});

Deno.test("orderState() never confirms a forged order_complete, and drops the claim when it is contradicted", () => {
  const pending = orderRead(2, "pending", 2);
  const forged = orderWebhook(3, "order_complete", { transaction_id: TX });
  assert.equal(seen(pending, forged), "success claimed");
  const state = stateOf(pending, forged, contradiction("success", 3));
  assert.equal(`${state.status} ${state.trust}`, "pending confirmed");
  assert.equal(state.txId, null, "nor do its fields show");
  assert.equal(state.claimed, null);
  assert.deepEqual(state.anomalies.map(({ kind }) => kind), ["contradicted"]);
});

Deno.test("orderState() takes only the existence of the order from a webhook when its type is unknown", () => {
  const state = stateOf(
    webhookAt(1, { type: "tx_smart_contract_failed", order: { id: ORDER } }),
  );
  assert.equal(`${state.status} ${state.trust}`, "created claimed");
});

Deno.test("decideOrderStatus() follows the table for every A, claim and standing", () => {
  const statuses = ["created", "progress", "pending", "failed", "success"]
    .concat("cancelled", "odd");
  const claimed = ["progress", "pending", "failed", "success", "cancelled"]
    .map((status) => status as "progress");
  let cases = 0;
  const codes = new Set<string>();
  for (const read of [null, ...statuses]) {
    for (let shown = 0; shown < 1 << statuses.length; shown++) {
      const shownSet = statuses.filter((_, place) => shown & (1 << place));
      if (read !== null && !shownSet.includes(read)) continue;
      if (read === null && shown !== 0) continue;
      for (let mask = 0; mask < 1 << claimed.length; mask++) {
        // Bit set: claimed; every second claim is contradicted in turn.
        for (const contradicted of [null, ...claimed]) {
          const facts = {
            latest: read === null ? null : { status: read },
            claims: claimed.filter((_, place) => mask & (1 << place)).map(
              (status) => ({ status, lastAt: "2026-01-01T00:00:00.000Z" }),
            ),
            observedStatuses: shownSet.map((status) => ({ status })),
            contradicted: contradicted === null ? [] : [{
              status: contradicted,
              upTo: "2026-01-01T00:00:00.000Z",
            }],
          };
          cases++;
          const counting = facts.claims.map(({ status }) => status as string)
            .filter((status) =>
              !shownSet.includes(status) && status !== contradicted
            );
          const w = counting.toSorted((a, b) => orderRank(b) - orderRank(a))[0];
          const expected = read !== null && (isFinal(read) || read === "odd")
            ? `${read} confirmed`
            : read === null
            ? `${w ?? "created"} claimed`
            : w !== undefined && orderRank(w) > orderRank(read)
            ? `${w} claimed`
            : `${read} confirmed`;
          const got = decideOrderStatus(facts);
          assert.equal(`${got.status} ${got.trust}`, expected);
          const { code } = orderReason(facts, got);
          codes.add(code);
          assert.equal(
            code.startsWith("reading_") || code.endsWith("_contested") ||
              code === "higher_claims_contradicted",
            got.trust === "confirmed",
            code,
          );
        }
      }
    }
  }
  assert.ok(cases > 80_000, `${cases} cases`);
  assert.deepEqual([...codes].sort(), [
    "all_claims_contradicted",
    "claim_ahead_of_reading",
    "claim_not_read",
    "final_reading_contested",
    "higher_claims_contradicted",
    "nothing_claimed_or_read",
    "reading_is_final",
    "reading_stands",
    "reading_unrecognised",
  ]);
});

Deno.test("orderReason() does not call a service unread that was asked for the order", () => {
  const reason = (...events: readonly RecordedEvent[]) =>
    orderState(foldOrder(ORDER, facts(...events))).reason;
  const claim = orderWebhook(1, "order_complete");
  assert.deepEqual(reason(claim), {
    code: "claim_not_read",
    claimed: "success",
  });
  assert.deepEqual(reason(claim, absentRead(2)), {
    code: "claim_of_absent_order",
    claimed: "success",
  });
  assert.deepEqual(
    reason(claim, absentRead(2), contradiction("success", 1)),
    { code: "all_claims_contradicted", contradicted: ["success"] },
  );
  assert.deepEqual(reason(absentRead(2)), {
    code: "nothing_claimed_of_absent_order",
  });
});

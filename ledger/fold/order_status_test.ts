import assert from "node:assert/strict";
import type { RecordedEvent } from "../event/event.ts";
import {
  absentRead,
  contradiction,
  facts,
  ORDER,
  orderRead,
  orderWebhook,
  redelivered,
  webhookAt,
} from "./_given_test.ts";
import { foldOrder } from "./as_of.ts";
import { isFinal, orderRank } from "./order_rank.ts";
import type { OrderState } from "./order_state.ts";
import { decideOrderStatus, orderStatusReason } from "./order_status.ts";
import { orderState } from "./state_of_order.ts";

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

Deno.test("A is the latest snapshot by changed_at, however late it was read", () => {
  assert.equal(
    seen(orderRead(30, "progress", 1), orderRead(20, "pending", 2)),
    "pending confirmed",
  );
});

Deno.test("A is the snapshot of higher rank when changed_at is equal", () => {
  assert.equal(
    seen(orderRead(20, "pending", 2), orderRead(30, "progress", 2)),
    "pending confirmed",
  );
});

Deno.test("A is the one read later when changed_at and rank are equal", () => {
  const state = stateOf(
    orderRead(30, "progress", 2, { card_brand: "VISA" }),
    orderRead(20, "progress", 2, { card_brand: "MASTERCARD" }),
  );
  assert.equal(state.cardBrand, "VISA");
});

Deno.test("A is the one of the higher digest when all else is equal", () => {
  const one = orderRead(30, "progress", 2, { card_brand: "VISA" });
  const two = orderRead(30, "progress", 2, { card_brand: "MASTERCARD" });
  const expected = (one.digest ?? "") > (two.digest ?? "")
    ? "VISA"
    : "MASTERCARD";
  assert.equal(stateOf(one, two).cardBrand, expected);
  assert.equal(stateOf(two, one).cardBrand, expected);
});

Deno.test("A without changed_at is older than any with it, and by reading otherwise", () => {
  assert.equal(
    seen(orderRead(30, "success", null), orderRead(20, "pending", 2)),
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
  Deno.test(`${type} claims ${status}`, () => {
    const state = stateOf(orderWebhook(1, type));
    assert.equal(`${state.status} ${state.trust}`, `${status} claimed`);
    assert.equal(state.transferSeen, type === "transfer_started");
  });
}

Deno.test("W is the highest claim that counts, in any order of arrival", () => {
  const events = [
    orderWebhook(3, "payment_started"),
    orderWebhook(1, "order_complete"),
    orderWebhook(2, "transfer_started"),
  ];
  assert.equal(seen(...events), "success claimed");
  assert.equal(seen(...events.reverse()), "success claimed");
});

Deno.test("A claim does not count once contradicted up to its last receipt", () => {
  assert.equal(
    seen(
      orderWebhook(1, "payment_started"),
      orderWebhook(5, "order_complete"),
      contradiction("success", 5),
    ),
    "progress claimed",
  );
});

Deno.test("A claim counts again when received after the contradiction", () => {
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

Deno.test("A contradiction of one claim leaves the others alone", () => {
  assert.equal(
    seen(
      orderWebhook(1, "order_failed"),
      orderWebhook(2, "order_complete"),
      contradiction("success", 2),
    ),
    "failed claimed",
  );
});

Deno.test("A claim does not count once a snapshot ever showed its status", () => {
  // The service showed success and then went back to pending, by its own word.
  assert.equal(
    seen(
      orderRead(2, "success", 2),
      orderRead(4, "pending", 4),
      orderWebhook(5, "order_complete"),
    ),
    "pending confirmed",
  );
});

Deno.test("A final: its status is confirmed whatever webhooks claim", () => {
  for (const status of ["success", "failed", "cancelled"]) {
    for (const [type] of claims) {
      assert.equal(
        seen(orderRead(2, status, 2), orderWebhook(9, type)),
        `${status} confirmed`,
      );
    }
  }
});

Deno.test("A final and a counting final claim that differs: contested", () => {
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

Deno.test("A unknown: its status is confirmed, never final, and contested by a final claim", () => {
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

Deno.test("A not final and W ranks higher: W, claimed", () => {
  assert.equal(
    seen(orderRead(2, "pending", 2), orderWebhook(1, "order_complete")),
    "success claimed",
  );
});

Deno.test("A not final and W does not rank higher: A, confirmed", () => {
  assert.equal(
    seen(orderRead(2, "pending", 2), orderWebhook(9, "payment_started")),
    "pending confirmed",
  );
  assert.equal(
    seen(orderRead(2, "pending", 2), orderWebhook(9, "transfer_started")),
    "pending confirmed",
  );
  assert.equal(seen(orderRead(2, "created", 2)), "created confirmed");
});

Deno.test("No A: W, claimed", () => {
  assert.equal(seen(orderWebhook(1, "order_failed")), "failed claimed");
});

Deno.test("Neither A nor W: created, claimed, with the reason", () => {
  const absent = stateOf(absentRead(1));
  assert.equal(`${absent.status} ${absent.trust}`, "created claimed");
  assert.match(absent.reason, /No webhook claims a status/);
  const refused = stateOf(
    orderWebhook(1, "order_complete"),
    contradiction("success", 1),
  );
  assert.equal(`${refused.status} ${refused.trust}`, "created claimed");
  assert.match(refused.reason, /did not agree with success/);
});

Deno.test("A late or repeated webhook never takes a state back", () => {
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

Deno.test("A confirmed final changes only by a later snapshot", () => {
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

Deno.test("A forged order_complete is never confirmed and, once contradicted, not claimed", () => {
  const pending = orderRead(2, "pending", 2);
  const forged = orderWebhook(3, "order_complete", { transaction_id: "0xbad" });
  assert.equal(seen(pending, forged), "success claimed");
  const state = stateOf(pending, forged, contradiction("success", 3));
  assert.equal(`${state.status} ${state.trust}`, "pending confirmed");
  assert.equal(state.txId, null, "nor do its fields show");
  assert.equal(state.claimed, null);
  assert.deepEqual(state.anomalies.map(({ kind }) => kind), ["contradicted"]);
});

Deno.test("An unknown webhook type claims nothing but that the order exists", () => {
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
            shown: shownSet.map((status) => ({ status })),
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
          assert.match(orderStatusReason(facts), /^[A-Z][^.]+$/);
        }
      }
    }
  }
  assert.ok(cases > 80_000, `${cases} cases`);
});

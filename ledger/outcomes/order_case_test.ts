import assert from "node:assert/strict";
import type { RecordedEvent } from "../events/event.ts";
import { foldOrder } from "../explain/as_of.ts";
import {
  caseChange,
  facts,
  handRelease,
  ORDER,
  orderRead,
  orderWebhook,
} from "../testing/given_facts.ts";
import { orderState } from "../states/state_of_order.ts";
import { ATTENTION_KINDS } from "./attention_kind.ts";
import { caseNow, caseOf, withoutSettled } from "./order_case.ts";

/** How the case stands, and what is left to do. */
function after(...events: RecordedEvent[]): string {
  const { attention, case: found } = orderState(
    foldOrder(ORDER, facts(...events)),
  );
  return `${found?.state ?? "none"}: ${attention.join(" ")}`;
}

const late = orderRead(5, "failed", 5, { fail_reason: "4016" });
const seen = {
  reasons: ["refund_due"],
  changed_at: "2026-11-20T00:05:00Z",
};

Deno.test("caseOf() opens by a kind of attention, and follows what a person did", () => {
  assert.equal(after(late), "open: refund_due");
  assert.equal(after(late, caseChange(9, "asked", seen)), "asked: refund_due");
  for (const change of ["refunded", "written_off", "not_ours"] as const) {
    assert.equal(after(late, caseChange(9, change, seen)), `${change}: `);
  }
  assert.equal(after(late, caseChange(9, "noted")), "open: refund_due");
  assert.equal(
    after(
      late,
      caseChange(9, "written_off", seen),
      caseChange(10, "reopened", { ...seen, turn: 2 }),
    ),
    "open: refund_due",
  );
});

Deno.test("caseOf() opens a case again that the service moves, and not for a webhook", () => {
  const closed = [late, caseChange(9, "written_off", seen)];
  assert.equal(
    after(...closed, orderRead(20, "success", 19, { tx_id: "0xT" })),
    "open: final_changed not_comparable",
  );
  assert.equal(
    after(...closed, orderRead(20, "failed", 19, { fail_reason: "4016" })),
    "open: refund_due",
    "the same reason, and a later change of the service",
  );
  assert.equal(
    after(...closed, orderRead(20, "failed", 5, { fail_reason: "4016" })),
    "written_off: ",
    "read again, and nothing has changed",
  );
  assert.equal(
    after(...closed, orderWebhook(21, "order_complete")),
    "written_off: ",
  );
  assert.equal(
    after(late, caseChange(9, "written_off", { ...seen, reasons: [] })),
    "open: refund_due",
    "the person did not know of the reason",
  );
});

Deno.test("caseOf() takes the later turn for the later change, whatever the clocks say", () => {
  const first = caseChange(50, "written_off", seen);
  const second = caseChange(9, "reopened", { ...seen, turn: 2 });
  assert.equal(after(late, first, second), "open: refund_due");
  assert.equal(after(late, second, first), "open: refund_due");
});

Deno.test("caseOf() takes a release by hand for a change, and opens it again", () => {
  const success = orderRead(5, "success", 5, { tx_id: "0xT" });
  const delivered = handRelease(10, "delivered", "basket-1");
  const reopened = caseChange(11, "reopened", {
    ...{ turn: 1, changed_at: "2026-11-20T00:05:00Z", after_hand: true },
  });
  assert.equal(after(success), "open: not_comparable");
  assert.equal(after(success, delivered), "delivered: ");
  assert.equal(after(success, delivered, reopened), "open: not_comparable");
  assert.equal(
    after(
      success,
      caseChange(8, "reopened", { turn: 1, after_hand: false }),
      delivered,
    ),
    "delivered: ",
    "the delivery came later",
  );
});

Deno.test("caseNow() is open exactly where something waits that nobody dealt with", () => {
  const changes = ["asked", "refunded", "written_off", "not_ours"] as const;
  for (const change of [null, ...changes]) {
    for (const kind of ATTENTION_KINDS) {
      for (const later of ATTENTION_KINDS) {
        const stored = caseOf({
          change: change && {
            ...{ change, turn: 1, recordedAt: "", digest: "" },
            ...{ reasons: [kind], changedAt: null, afterHand: false },
            ...{ reference: null, since: null },
          },
          changedAt: null,
          byHand: null,
        }, [kind]);
        const left = withoutSettled([kind, later], null, stored);
        const now = caseNow(stored, left);
        const isNew = later !== kind;
        assert.equal(now?.state, change === null || isNew ? "open" : change);
        assert.equal(
          left.length === 0,
          change !== null && change !== "asked" && !isNew,
        );
      }
    }
  }
});

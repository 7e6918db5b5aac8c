import fc from "fast-check";
import assert from "node:assert/strict";
import { failReasons } from "../../core/assets/fail_reason.ts";
import type { RecordedEvent } from "../events/event.ts";
import { foldOrder } from "../testing/fold_order.ts";
import {
  absentRead,
  contradiction,
  facts,
  ORDER,
  orderRead,
  orderWebhook,
  session,
  TX,
} from "../testing/given_facts.ts";
import { canOccur } from "./combinations_test.ts";
import { codeFact, factsOfOrder, matchExpectations } from "./match.ts";
import type { StoredFacts } from "./outcome_table.ts";

function factsOf(...events: readonly RecordedEvent[]): StoredFacts {
  const fold = foldOrder(ORDER, facts(...events));
  return factsOfOrder(fold, matchExpectations(fold, "production").match);
}

const NOTHING: StoredFacts = {
  shown: "none",
  gone: "no",
  before: "none",
  code: "none",
  tx: "unstated",
  match: "nothing",
  chain: "none",
  required: "no",
  claim: "none",
};

Deno.test("factsOfOrder() tells an order that was not read from one that is denied", () => {
  const claimed = orderWebhook(1, "order_complete");
  assert.deepEqual(factsOf(), NOTHING);
  assert.deepEqual(factsOf(claimed), { ...NOTHING, claim: "counts" });
  assert.deepEqual(factsOf(claimed, absentRead(2)), {
    ...NOTHING,
    shown: "denied",
    claim: "counts",
  });
  assert.deepEqual(factsOf(claimed, contradiction("success", 1)), {
    ...NOTHING,
    shown: "denied",
    claim: "rejected",
  });
  assert.deepEqual(factsOf(absentRead(2)), { ...NOTHING, shown: "denied" });
});

Deno.test("factsOfOrder() knows an order that the service does not show any more", () => {
  const read = orderRead(3, "success", 3);
  assert.equal(factsOf(read, absentRead(4)).gone, "yes");
  assert.equal(factsOf(read, absentRead(2)).gone, "no");
  assert.equal(factsOf(orderRead(3, "", 3), absentRead(4)).gone, "yes");
});

Deno.test("factsOfOrder() says which other end readings have shown", () => {
  const read = orderRead(9, "pending", 9);
  assert.equal(factsOf(read).before, "none");
  assert.equal(factsOf(read, orderRead(5, "failed", 5)).before, "other");
  assert.equal(
    factsOf(read, orderRead(5, "failed", 5), orderRead(6, "success", 6)).before,
    "success",
  );
});

Deno.test("factsOfOrder() tells an empty transaction from one that is not stated", () => {
  const tx = (tx_id: unknown) =>
    factsOf(orderRead(5, "success", 5, { tx_id })).tx;
  assert.equal(tx(TX), "named");
  assert.equal(tx(TX.slice(0, -1)), "unreadable");
  const nothing = [
    "  ",
    "\u200b",
    "0x",
    "null",
    "-",
    "pending",
    "\0",
    0,
    false,
  ];
  for (const one of ["", ...nothing, [], {}, 12_345_678, [TX]]) {
    assert.equal(tx(one), "empty", JSON.stringify(one));
  }
  assert.equal(tx(null), "empty");
  assert.equal(tx(undefined), "unstated");
});

Deno.test("factsOfOrder() counts a webhook that says more only while the order can go on", () => {
  const claim = orderWebhook(6, "order_complete");
  const rejected = [claim, contradiction("success", 6)];
  const open = orderRead(5, "pending", 5);
  assert.equal(factsOf(open, claim).claim, "counts");
  assert.equal(factsOf(open, ...rejected).claim, "rejected");
  assert.equal(factsOf(open, orderWebhook(6, "payment_started")).claim, "none");
  for (const status of ["success", "failed", "cancelled", "on_hold", ""]) {
    const read = orderRead(5, status, 5);
    assert.equal(
      factsOf(read, orderWebhook(6, "order_cancelled")).claim,
      "none",
    );
    assert.equal(factsOf(read, ...rejected).claim, "none");
  }
});

Deno.test("codeFact() has a group for every documented code, and for others", () => {
  for (const code of failReasons) assert.notEqual(codeFact(code), "other");
  assert.equal(codeFact("4014"), "declined");
  assert.equal(codeFact("4016"), "late");
  assert.equal(codeFact("toString"), "other");
  assert.equal(codeFact(""), "none");
});

Deno.test("factsOfOrder() makes only facts of combinations that can occur", () => {
  const minute = fc.integer({ min: 1, max: 9 });
  const read = fc.tuple(
    minute,
    fc.constantFrom(
      ...["created", "progress", "pending", "success", "failed", "cancelled"],
      ...["on_hold", ""],
    ),
    minute,
    fc.record({
      tx_id: fc.constantFrom("", "0x1", null, undefined),
      fail_reason: fc.constantFrom("", "4001", "4015", "4016", "4017", "no"),
      click_id: fc.constantFrom("basket-1", ""),
    }),
  ).map(([readAt, status, changedAt, order]) =>
    orderRead(readAt, status, changedAt, order)
  );
  const event = fc.oneof(
    read,
    fc.tuple(
      minute,
      fc.constantFrom("order_complete", "order_failed", "transfer_started"),
    ).map(([at, type]) => orderWebhook(at, type)),
    minute.map(absentRead),
    minute.map((at) => contradiction("success", at)),
    fc.constantFrom(
      { currency_amount: "30" },
      { currency_amount: "40" },
      {},
    ).map((amount) => session(0, { currency: "USD", ...amount })),
  );
  fc.assert(
    fc.property(fc.array(event, { maxLength: 6 }), (events) => {
      const found = factsOf(...events);
      assert(
        canOccur({ ...found, overdue: "no", twice: "no" }),
        JSON.stringify(found),
      );
    }),
    { numRuns: 1000 },
  );
});

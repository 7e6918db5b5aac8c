import fc from "fast-check";
import assert from "node:assert/strict";
import { VERDICTS } from "../../core/chain/verdict.ts";
import type { ChainReadingBody, RecordedEvent } from "../events/event.ts";
import { foldOrder } from "../explain/as_of.ts";
import {
  canonicalOrder,
  decodeOrderFold,
  encodeOrderFold,
} from "../projection/codec/fold_codec.ts";
import { orderState } from "../states/state_of_order.ts";
import {
  chainLook,
  facts,
  ORDER,
  orderRead,
  session,
} from "../testing/given_facts.ts";

const paid = orderRead(9, "success", 5, { tx_id: "0xT1" });
const asked = session(0, { currency: "USD", currency_amount: "30" });

function stateAfter(...events: readonly RecordedEvent[]) {
  return orderState(foldOrder(ORDER, facts(...events)));
}

function chainOf(...looks: readonly RecordedEvent[]) {
  return stateAfter(paid, asked, ...looks).facts.chain;
}

Deno.test("orderState() takes from each look at the chain one fact", () => {
  const final = (verdict: ChainReadingBody["verdict"], rest = {}) =>
    chainOf(chainLook(10, { verdict, ...rest }));
  assert.equal(chainOf(), "none");
  assert.equal(final("delivered"), "agrees");
  assert.equal(final("other_recipient_or_asset"), "differs");
  assert.equal(final("reverted"), "differs");
  assert.equal(final("short", { arrived: "0.0123" }), "off");
  assert.equal(final("more", { arrived: "0.0124" }), "off");
  for (const verdict of VERDICTS) {
    assert.equal(final(verdict, { final: false }), "open", verdict);
  }
  for (
    const verdict of ["pending", "absent", "reorged", "undecided"] as const
  ) {
    assert.equal(final(verdict), "open", verdict);
  }
});

Deno.test("orderState() takes an amount within the partner's tolerance for nothing, and beyond it for another transfer", () => {
  const short = (tolerance: string) =>
    chainOf(chainLook(10, { verdict: "short", arrived: "0.0122", tolerance }));
  assert.equal(short("0.000100000000000001"), "agrees");
  assert.equal(short("0.0001"), "differs");
});

Deno.test("orderState() lets the chain take a release away, and never give one", () => {
  const differs = chainLook(10, { verdict: "reverted" });
  assert.equal(stateAfter(paid, asked).release, "yes");
  const held = stateAfter(paid, asked, differs);
  assert.deepEqual([held.release, held.releaseReason, held.attention], [
    "wait",
    "chain_differs",
    ["chain_differs"],
  ]);
  assert.equal(stateAfter(paid, asked, chainLook(10)).release, "yes");
  assert.equal(stateAfter(paid, chainLook(10)).release, "unchecked");
  const off = stateAfter(
    paid,
    asked,
    chainLook(10, { verdict: "short", arrived: "0.0122" }),
  );
  assert.deepEqual([off.release, off.attention], ["yes", ["chain_amount"]]);
});

Deno.test("orderState() counts the latest final look, and a later one that is not final only without it", () => {
  const open = chainLook(11, { verdict: "absent", final: false });
  assert.equal(chainOf(chainLook(10), open), "agrees");
  assert.equal(chainOf(open), "open");
  const gone = chainLook(12, { verdict: "reorged", final: true });
  assert.equal(chainOf(chainLook(10), open, gone), "open");
  assert.equal(chainOf(chainLook(10), open, gone, chainLook(13)), "agrees");
});

Deno.test("orderState() does not count a look at another transaction, address or amount than the service shows", () => {
  for (
    const other of [
      { tx_id: "0xt2" },
      { address: "0xabc2" },
      { amount: "0.0124" },
      { network: "base" },
    ]
  ) {
    assert.equal(chainOf(chainLook(10, other)), "none", JSON.stringify(other));
  }
  assert.equal(
    chainOf(chainLook(9), chainLook(10, { tx_id: "0xt2", final: false })),
    "agrees",
  );
});

Deno.test("looks fold into the same bytes in any order, with any repeats", () => {
  const look = fc.record({
    minute: fc.integer({ min: 10, max: 14 }),
    verdict: fc.constantFrom(...VERDICTS),
    final: fc.boolean(),
    tx_id: fc.constantFrom("0xt1", "0xt2"),
  });
  fc.assert(
    fc.property(
      fc.array(look, { maxLength: 6 }).chain((looks) => {
        const events = looks.map(({ minute, ...rest }) =>
          chainLook(minute, rest)
        );
        return fc.tuple(
          fc.constant(events),
          fc.shuffledSubarray([...events, ...events], {
            minLength: events.length * 2,
          }),
        );
      }),
      ([events, shuffled]) => {
        const fold = foldOrder(ORDER, facts(paid, ...events));
        const other = foldOrder(ORDER, facts(...shuffled, paid));
        assert.deepEqual(other.looks, fold.looks);
        assert.equal(
          canonicalOrder(orderState(decodeOrderFold(encodeOrderFold(other)))),
          canonicalOrder(orderState(fold)),
        );
      },
    ),
  );
});

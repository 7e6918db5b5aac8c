import fc from "fast-check";
import assert from "node:assert/strict";
import { VERDICTS } from "../../core/chain/verdict.ts";
import {
  orderState,
  outcomeNow,
  OVERDUE_AFTER_MS,
} from "../states/order_state.ts";
import type { ChainReadingBody, RecordedEvent } from "../events/event.ts";
import { foldOrder } from "../testing/fold_order.ts";
import { packOrder, unpackOrder } from "../projection/rows.ts";
import {
  chainLook,
  facts,
  ORDER,
  orderRead,
  requirement,
  serviceTime,
  session,
  TX,
  TX2,
} from "../testing/given_facts.ts";

const paid = orderRead(9, "success", 5, { tx_id: TX });
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
      { tx_id: TX2 },
      { address: "0xabc2" },
      { amount: "0.0124" },
      { network: "base" },
    ]
  ) {
    assert.equal(chainOf(chainLook(10, other)), "none", JSON.stringify(other));
  }
  assert.equal(
    chainOf(chainLook(9), chainLook(10, { tx_id: TX2, final: false })),
    "agrees",
  );
});

const began = orderRead(9, "success", 5, {
  tx_id: TX,
  created_at: serviceTime(5),
});

function releaseAfter(...events: readonly RecordedEvent[]) {
  const { release, releaseReason, attention } = stateAfter(
    began,
    asked,
    ...events,
  );
  return [release, releaseReason, attention.join()];
}

Deno.test("orderState() lets a release wait for the chain where that is required, until a final look agrees", () => {
  const required = requirement(1, "all");
  const waits = ["wait", "witness_open", ""];
  assert.deepEqual(releaseAfter(required), waits);
  for (const verdict of VERDICTS) {
    const shallow = chainLook(10, { verdict, final: false });
    assert.deepEqual(releaseAfter(required, shallow), waits, verdict);
  }
  const seen = chainLook(10);
  assert.deepEqual(releaseAfter(required, seen), [
    "yes",
    "session_matched",
    "",
  ]);
  const gone = chainLook(11, { verdict: "reorged" });
  assert.deepEqual(releaseAfter(required, seen, gone), waits);
});

Deno.test("orderState() takes any amount that is off for another transfer where the chain is required and no tolerance is stated", () => {
  const short = (rest = {}) =>
    chainLook(10, { verdict: "short", arrived: "0.0122", ...rest });
  assert.deepEqual(releaseAfter(short()), [
    "yes",
    "session_matched",
    "chain_amount",
  ]);
  assert.deepEqual(releaseAfter(requirement(1, "all"), short()), [
    "wait",
    "chain_differs",
    "chain_differs",
  ]);
  assert.equal(
    releaseAfter(requirement(1, "all"), short({ tolerance: "0.001" }))[0],
    "yes",
  );
});

Deno.test("orderState() leaves a pair that nobody can look at out only where the rule says so", () => {
  const unsupported = chainLook(10, {
    verdict: "unsupported",
    reason: "token_not_pinned",
    final: false,
  });
  const [all, supported] = [requirement(1, "all"), requirement(1, "supported")];
  assert.equal(releaseAfter(supported)[0], "wait");
  assert.equal(releaseAfter(supported, unsupported)[0], "yes");
  assert.equal(releaseAfter(all, unsupported)[0], "wait");
});

Deno.test("orderState() keeps the rule of an order's beginning, whatever is decided later", () => {
  assert.equal(releaseAfter(requirement(6, "all"))[0], "yes");
  assert.equal(
    releaseAfter(requirement(1, "all"), requirement(6, "off"))[0],
    "wait",
  );
  assert.equal(
    releaseAfter(requirement(1, "all"), requirement(4, "off"))[0],
    "yes",
  );
});

Deno.test("outcomeNow() says after a day that the chain has not shown it, and closes that by hand", () => {
  const state = stateAfter(began, asked, requirement(1, "all"));
  const changedMs = Date.parse(state.changedAt ?? assert.fail());
  const after = (ms: number, order = state) => {
    const { code, release, attention } = outcomeNow(order, changedMs + ms);
    return [code, release, attention.join()];
  };
  assert.deepEqual(after(OVERDUE_AFTER_MS.witness_missing - 1), [
    "witness_open",
    "wait",
    "",
  ]);
  assert.deepEqual(after(OVERDUE_AFTER_MS.witness_missing), [
    "witness_missing",
    "wait",
    "witness_missing",
  ]);
  const seen = stateAfter(began, asked, requirement(1, "all"), chainLook(10));
  assert.deepEqual(after(OVERDUE_AFTER_MS.witness_missing, seen), [
    "session_matched",
    "yes",
    "",
  ]);
});

Deno.test("looks fold into the same bytes in any order, with any repeats", () => {
  const look = fc.record({
    minute: fc.integer({ min: 10, max: 14 }),
    verdict: fc.constantFrom(...VERDICTS),
    final: fc.boolean(),
    tx_id: fc.constantFrom("0xt1", TX2),
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
          JSON.stringify(orderState(unpackOrder(ORDER, packOrder(other)))),
          JSON.stringify(orderState(fold)),
        );
      },
    ),
  );
});

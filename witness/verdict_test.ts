import fc from "fast-check";
import assert from "node:assert/strict";
import { decimalOfUnits, unitsOfDecimal } from "../core/decimal.ts";
import { VERDICTS } from "../core/chain/verdict.ts";
import { NODE_PROBLEMS } from "./transfer.ts";
import {
  agree,
  compareAmounts,
  isLagging,
  verdictOf,
  type Vote,
} from "./verdict.ts";

const units = fc.bigInt({ min: 1n, max: 10n ** 30n });

Deno.test("compareAmounts() is exact at any number of digits", () => {
  fc.assert(
    fc.property(
      units,
      units,
      fc.integer({ min: 0, max: 24 }),
      (paid, due, decimals) => {
        const { verdict, arrived } = compareAmounts(
          [{ units: paid, index: null }],
          decimalOfUnits(due, decimals),
          [],
          { chainDecimals: decimals, statedDecimals: decimals },
        ) ?? assert.fail();
        assert.equal(
          verdict,
          paid === due ? "delivered" : paid < due ? "short" : "more",
        );
        assert.equal(unitsOfDecimal(arrived ?? "", decimals), paid);
      },
    ),
  );
});

Deno.test("compareAmounts() compares at the digits that the service has, where the chain has more", () => {
  const rule = { chainDecimals: 18, statedDecimals: 5 };
  const compare = (units: bigint) =>
    compareAmounts([{ units, index: null }], "1.00003", [], rule)?.verdict;
  const stated = 1_000_030_000_000_000_000n;
  const digit = 10n ** 13n;
  assert.equal(compare(stated + digit - 1n), "delivered", "cut");
  assert.equal(compare(stated - digit + 1n), "delivered", "rounded up");
  assert.equal(compare(stated + digit), "more");
  assert.equal(compare(stated - digit), "short");
});

Deno.test("compareAmounts() takes no amount without its trailing zeros for a coarse one", () => {
  const rule = { chainDecimals: 18, statedDecimals: 18 };
  const compare = (units: bigint) =>
    compareAmounts([{ units, index: null }], "0.1", [], rule)?.verdict;
  assert.equal(compare(10n ** 17n), "delivered");
  assert.equal(compare(10n ** 17n - 1n), "short");
});

const verdict = fc.record({
  verdict: fc.constantFrom(...VERDICTS),
  reason: fc.constant(null),
  arrived: fc.constantFrom(null, "1", "2"),
  block: fc.constantFrom(
    null,
    { blockHash: "0x1", blockHeight: 1 },
    { blockHash: "0x2", blockHeight: 1 },
  ),
  index: fc.constant(null),
  confirmations: fc.constantFrom(null, 1, 9),
  final: fc.boolean(),
});
const votes: fc.Arbitrary<readonly Vote[]> = fc.array(
  fc.oneof(
    fc.record({
      problem: fc.constantFrom(...NODE_PROBLEMS),
      verdict: fc.constant(null),
    }),
    fc.record({ problem: fc.constant(null), verdict }),
  ),
  { minLength: 1, maxLength: 5 },
).map((all) => all.map((vote, at) => ({ node: `node-${at}`, ...vote })));

Deno.test("agree() says what a quorum says, in whatever order the nodes answer, or nothing", () => {
  fc.assert(
    fc.property(votes, fc.integer({ min: 1, max: 5 }), (all, quorum) => {
      const agreed = agree(all, quorum);
      const turned = agree([...all].reverse(), quorum);
      assert.deepEqual(
        { ...turned, nodes: turned.nodes.toSorted(), problems: [] },
        { ...agreed, nodes: agreed.nodes.toSorted(), problems: [] },
      );
      const isNothing = agreed.nodes.length === 0;
      assert.equal(isNothing || agreed.nodes.length >= quorum, true);
      if (isNothing) assert.equal(agreed.final, false);
      for (const { node, verdict } of all) {
        if (!agreed.nodes.includes(node)) continue;
        assert.equal(verdict?.verdict, agreed.verdict);
        assert.equal(verdict?.arrived, agreed.arrived);
      }
      if (agreed.final) {
        const sure = all.filter(({ node, verdict }) =>
          agreed.nodes.includes(node) && verdict?.final === true
        );
        assert.equal(sure.length >= quorum, true);
      }
    }),
  );
});

Deno.test("isLagging() knows a node that is far behind another, and one whose newest block is old", () => {
  const rule = { blockMs: 12_000, nowMs: 10_000_000_000 };
  const now = { tip: 100, tipMs: rule.nowMs };
  assert.equal(isLagging(now, 100, rule), false);
  assert.equal(isLagging(now, 121, rule), true);
  assert.equal(
    isLagging({ ...now, tipMs: rule.nowMs - 601_000 }, 100, rule),
    true,
  );
  const slow = { ...rule, blockMs: 600_000 };
  assert.equal(
    isLagging({ ...now, tipMs: rule.nowMs - 7_200_000 }, 100, slow),
    false,
  );
});

Deno.test("verdictOf() decides nothing of a call that two orders share", () => {
  const question = {
    network: "base",
    asset: "USDC",
    txId: `0x${"5a".repeat(32)}`,
    address: `0x${"a1".repeat(20)}`,
    amount: "10",
  };
  const finding = {
    place: "block",
    block: { blockHash: "0xb1", blockHeight: 7 },
    confirmations: 9,
    effect: { kind: "called", succeeded: true },
  } as const;
  const rule = { chainDecimals: 6, statedDecimals: 6, confirmations: 3 };
  const alone = verdictOf(finding, question, rule);
  assert.deepEqual([alone.verdict, alone.final], ["delivered", true]);
  const shared = verdictOf(finding, { ...question, others: ["10"] }, rule);
  assert.deepEqual(
    [shared.verdict, shared.reason, shared.final],
    ["undecided", "shared_transaction", false],
  );
});

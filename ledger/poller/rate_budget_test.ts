import assert from "node:assert/strict";
import fc from "fast-check";
import {
  type BudgetRules,
  fullBudget,
  type Lane,
  LANES,
  spend,
  takeTurn,
} from "./rate_budget.ts";

const rules: BudgetRules = {
  requestsPerSecond: 2,
  burst: 2,
  shares: { new: 2, open: 3, confirm: 3, deep: 2 },
};

/** Runs turns for a while; `ready` says who has work before each turn. */
function run(
  turns: number,
  ready: (turn: number) => readonly Lane[],
  cost: (lane: Lane, turn: number) => number = () => 1,
): { spent: Record<Lane, number>[]; nowMs: number } {
  let nowMs = 0;
  let budget = fullBudget(rules, nowMs);
  const spent: Record<Lane, number>[] = [];
  const sum = { new: 0, open: 0, confirm: 0, deep: 0 };
  while (spent.length < turns) {
    const turn = takeTurn(budget, rules, ready(spent.length), nowMs);
    budget = turn.budget;
    if ("waitMs" in turn) {
      nowMs += turn.waitMs;
      continue;
    }
    const requests = cost(turn.lane, spent.length);
    budget = spend(budget, rules, turn.lane, requests);
    sum[turn.lane] += requests;
    spent.push({ ...sum });
  }
  return { spent, nowMs };
}

const sharesTotal = 10;

Deno.test("takeTurn() guarantees each busy lane its share", () => {
  fc.assert(fc.property(
    fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 50 }),
    (costs) => {
      const { spent } = run(
        400,
        () => LANES,
        (_, turn) => costs[turn % costs.length] ?? 1,
      );
      for (const sum of spent) {
        const all = LANES.reduce((n, lane) => n + sum[lane], 0);
        for (const lane of LANES) {
          const due = all * rules.shares[lane] / sharesTotal;
          // One turn of each other lane is the most anybody waits.
          assert.ok(sum[lane] >= due - 3 * LANES.length, `${lane} of ${all}`);
        }
      }
    },
  ));
});

Deno.test("takeTurn() gives an idle lane's share to the others", () => {
  const { spent } = run(200, () => ["deep"]);
  assert.equal(spent.at(-1)?.deep, 200);
});

Deno.test("takeTurn() lets nobody save up while idle", () => {
  const { spent } = run(
    400,
    (turn) => turn < 200 ? ["deep"] : ["deep", "confirm"],
  );
  const before = spent[199];
  const after = spent[399];
  assert.ok(before && after);
  const deep = after.deep - before.deep;
  // 2 of 5 parts are deep's, though confirm had spent nothing for long.
  assert.ok(deep >= 75 && deep <= 85, `deep got ${deep} of 200`);
});

Deno.test("takeTurn() serves a lane that comes back at once", () => {
  let budget = fullBudget(rules, 0);
  for (let i = 0; i < 50; i++) {
    const turn = takeTurn(budget, rules, ["deep"], i * 1000);
    assert.ok("lane" in turn);
    budget = spend(turn.budget, rules, turn.lane, 1);
  }
  const turn = takeTurn(budget, rules, ["deep", "confirm"], 50_000);
  assert.ok("lane" in turn && turn.lane === "confirm");
});

Deno.test("takeTurn() keeps to the rate, with a burst after a pause", () => {
  fc.assert(fc.property(
    fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 20 }),
    (costs) => {
      const { spent, nowMs } = run(
        100,
        () => LANES,
        (_, turn) => costs[turn % costs.length] ?? 1,
      );
      const last = spent.at(-1) ?? { new: 0, open: 0, confirm: 0, deep: 0 };
      const all = LANES.reduce((n, lane) => n + last[lane], 0);
      // The last turn may overdraw by what it cost; the next waits for it.
      const allowed = rules.burst + nowMs / 1000 * rules.requestsPerSecond + 4;
      assert.ok(all <= allowed, `${all} requests in ${nowMs} ms`);
    },
  ));
});

Deno.test("fullBudget() refuses rates and shares that are no rates", () => {
  assert.throws(
    () => fullBudget({ ...rules, requestsPerSecond: 0 }, 0),
    /requestsPerSecond must be a positive number, got 0/,
  );
  assert.throws(
    () => fullBudget({ ...rules, shares: { ...rules.shares, deep: -1 } }, 0),
    RangeError,
  );
  assert.throws(
    () => takeTurn(fullBudget(rules, 0), rules, [], 0),
    RangeError,
  );
});

import assert from "node:assert/strict";
import fc from "fast-check";
import {
  RequestMeter,
  type ShareRules,
  SWEEP_KINDS,
  type SweepKind,
} from "./fair_share.ts";

const rules: ShareRules = {
  requestsPerSecond: 2,
  burst: 2,
  shares: { new: 2, open: 3, confirm: 3, deep: 2 },
};

/** Runs turns for a while; `ready` says who has work before each turn. */
function run(
  turns: number,
  ready: (turn: number) => readonly SweepKind[],
  cost: (kind: SweepKind, turn: number) => number = () => 1,
): { spent: Record<SweepKind, number>[]; nowMs: number } {
  let nowMs = 0;
  const meter = new RequestMeter(rules, () => nowMs);
  const spent: Record<SweepKind, number>[] = [];
  const sum = { new: 0, open: 0, confirm: 0, deep: 0 };
  while (spent.length < turns) {
    const turn = meter.turn(ready(spent.length));
    if ("waitMs" in turn) {
      nowMs += turn.waitMs;
      continue;
    }
    const requests = cost(turn.kind, spent.length);
    meter.spend(turn.kind, requests);
    sum[turn.kind] += requests;
    spent.push({ ...sum });
  }
  return { spent, nowMs };
}

const sharesTotal = 10;

Deno.test("RequestMeter guarantees each busy kind its share", () => {
  fc.assert(fc.property(
    fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 50 }),
    (costs) => {
      const { spent } = run(
        400,
        () => SWEEP_KINDS,
        (_, turn) => costs[turn % costs.length] ?? 1,
      );
      for (const sum of spent) {
        const all = SWEEP_KINDS.reduce((n, kind) => n + sum[kind], 0);
        for (const kind of SWEEP_KINDS) {
          const due = all * rules.shares[kind] / sharesTotal;
          // One turn of each other kind is the most anybody waits.
          assert.ok(
            sum[kind] >= due - 3 * SWEEP_KINDS.length,
            `${kind} of ${all}`,
          );
        }
      }
    },
  ));
});

Deno.test("RequestMeter gives an idle kind's share to the others", () => {
  const { spent } = run(200, () => ["deep"]);
  assert.equal(spent.at(-1)?.deep, 200);
});

Deno.test("RequestMeter lets nobody save up while idle", () => {
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

Deno.test("RequestMeter serves a kind that comes back at once", () => {
  let nowMs = 0;
  const meter = new RequestMeter(rules, () => nowMs);
  for (; nowMs < 50_000; nowMs += 1000) {
    const turn = meter.turn(["deep"]);
    assert.ok("kind" in turn);
    meter.spend(turn.kind, 1);
  }
  const turn = meter.turn(["deep", "confirm"]);
  assert.ok("kind" in turn && turn.kind === "confirm");
});

Deno.test("RequestMeter has a request left for the confirm sweep when it comes back, whatever the others do", () => {
  const others = fc.subarray<SweepKind>(["new", "open", "deep"], {
    minLength: 1,
  });
  fc.assert(fc.property(
    fc.array(others, { minLength: 1, maxLength: 60 }),
    (busy) => {
      let nowMs = 0;
      const meter = new RequestMeter(rules, () => nowMs);
      for (const ready of busy) {
        let turn = meter.turn(ready);
        while ("waitMs" in turn) {
          nowMs += turn.waitMs;
          turn = meter.turn(ready);
        }
        meter.spend(turn.kind, 1);
        const back = meter.turn([...ready, "confirm"]);
        assert.ok("kind" in back && back.kind === "confirm");
      }
    },
  ));
});

Deno.test("RequestMeter keeps the rate of the others while the confirm sweep has no work", () => {
  const { nowMs } = run(200, () => ["new", "deep"]);
  assert.ok(nowMs <= 200 * 1000 / rules.requestsPerSecond, `${nowMs} ms`);
});

Deno.test("RequestMeter lets nobody wait for ever where only one request may be made at once", () => {
  const one = { ...rules, burst: 1 };
  const turn = new RequestMeter(one, () => 0).turn(["deep"]);
  assert.ok("kind" in turn && turn.kind === "deep");
});

Deno.test("RequestMeter keeps to the rate, with a burst after a pause", () => {
  fc.assert(fc.property(
    fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 20 }),
    (costs) => {
      const { spent, nowMs } = run(
        100,
        () => SWEEP_KINDS,
        (_, turn) => costs[turn % costs.length] ?? 1,
      );
      const last = spent.at(-1) ?? { new: 0, open: 0, confirm: 0, deep: 0 };
      const all = SWEEP_KINDS.reduce((n, kind) => n + last[kind], 0);
      // The last turn may overdraw by what it cost; the next waits for it.
      const allowed = rules.burst + nowMs / 1000 * rules.requestsPerSecond + 4;
      assert.ok(all <= allowed, `${all} requests in ${nowMs} ms`);
    },
  ));
});

Deno.test("RequestMeter refuses rates and shares that are no rates", () => {
  assert.throws(
    () => new RequestMeter({ ...rules, requestsPerSecond: 0 }, () => 0),
    /requestsPerSecond must be a positive number, got 0/,
  );
  assert.throws(
    () =>
      new RequestMeter(
        { ...rules, shares: { ...rules.shares, deep: -1 } },
        () => 0,
      ),
    RangeError,
  );
  assert.throws(
    () => new RequestMeter(rules, () => 0).turn([]),
    RangeError,
  );
});

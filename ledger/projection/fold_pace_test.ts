import assert from "node:assert/strict";
import fc from "fast-check";
import { FOLD_PACE_RULES, FoldPace } from "./fold_pace.ts";

const { crowdedPerSecond, crowdedShare, longestRestMs, stepEvents } =
  FOLD_PACE_RULES;

/** What of a time was spent on steps, and how long the longest pause was. */
interface Folded {
  readonly share: number;
  readonly longestPauseMs: number;
  readonly mostEvents: ReadonlySet<number>;
}

/**
 * Folds without end while deliveries come.
 *
 * @param forMs How long.
 * @param perSecond Deliveries a second at a time.
 * @param stepMs How long a step takes.
 */
function fold(
  forMs: number,
  perSecond: (nowMs: number) => number,
  stepMs: () => number,
): Folded {
  const pace = new FoldPace(FOLD_PACE_RULES, 0);
  const mostEvents = new Set<number>();
  let [nowMs, workedMs, pausedMs, longestPauseMs] = [0, 0, 0, 0];
  const pass = (ms: number): void => {
    pace.received(perSecond(nowMs) * ms / 1000);
    nowMs += ms;
  };
  while (nowMs < forMs) {
    const next = pace.next(nowMs);
    if (next.waitMs > 0) {
      pausedMs += next.waitMs;
      longestPauseMs = Math.max(longestPauseMs, pausedMs);
      pass(next.waitMs);
      continue;
    }
    pausedMs = 0;
    mostEvents.add(next.mostEvents);
    const ms = stepMs();
    workedMs += ms;
    pass(ms);
  }
  return { share: workedMs / nowMs, longestPauseMs, mostEvents };
}

Deno.test("FoldPace.next() folds without a pause while few deliveries come", () => {
  fc.assert(fc.property(
    fc.integer({ min: 0, max: crowdedPerSecond - 1 }),
    fc.integer({ min: 1, max: 1000 }),
    (perSecond, stepMs) => {
      const { share, mostEvents } = fold(30_000, () => perSecond, () => stepMs);
      assert.equal(share, 1);
      assert.deepEqual([...mostEvents], [stepEvents.calm]);
    },
  ));
});

Deno.test("FoldPace.next() gives the fold its share of a crowd, and no more, however long steps take", () => {
  // The rest after a longer one would be cut short.
  const longestMs = longestRestMs * crowdedShare / (1 - crowdedShare);
  fc.assert(fc.property(
    fc.integer({ min: 2 * crowdedPerSecond, max: 100_000 }),
    fc.array(fc.integer({ min: 1, max: Math.floor(longestMs) }), {
      minLength: 1,
      maxLength: 9,
    }),
    (perSecond, stepsMs) => {
      let at = 0;
      const { share } = fold(
        300_000,
        () => perSecond,
        () => stepsMs[at++ % stepsMs.length] ?? 1,
      );
      // It is noticed after the first step.
      assert.ok(Math.abs(share - crowdedShare) < 0.01, `${share}`);
    },
  ));
});

Deno.test("FoldPace.next() never rests longer than it may, whatever comes", () => {
  fc.assert(fc.property(
    fc.array(fc.integer({ min: 0, max: 50_000 }), { minLength: 1 }),
    fc.integer({ min: 1, max: 10_000 }),
    (perSecond, stepMs) => {
      const { longestPauseMs } = fold(
        60_000,
        (nowMs) => perSecond[Math.floor(nowMs / 100) % perSecond.length] ?? 0,
        () => stepMs,
      );
      assert.ok(longestPauseMs <= longestRestMs, `${longestPauseMs} ms`);
    },
  ));
});

Deno.test("FoldPace.next() takes small steps during a crowd, and folds on soon after it", () => {
  const pace = new FoldPace(FOLD_PACE_RULES, 0);
  pace.received(10_000);
  assert.equal(pace.next(100).mostEvents, stepEvents.crowded);
  // A step of a second, for which it would rest for two.
  pace.received(10_000);
  let nowMs = 1100;
  while (nowMs <= 60_000) {
    const { waitMs, mostEvents } = pace.next(nowMs);
    if (waitMs === 0) {
      assert.equal(mostEvents, stepEvents.calm);
      break;
    }
    nowMs += waitMs;
  }
  assert.ok(nowMs <= 1100 + 250, `${nowMs}`);
});

Deno.test("FoldPace.next() takes a pause between two groups of answers for no calm", () => {
  const pace = new FoldPace(FOLD_PACE_RULES, 0);
  pace.received(10_000);
  assert.equal(pace.next(100).waitMs, 0);
  pace.received(10_000);
  // The disk stalls: nobody is answered, so nobody sends.
  for (const nowMs of [1100, 1150, 1200]) {
    assert.ok(pace.next(nowMs).waitMs > 0, `${nowMs}`);
  }
});

Deno.test("FoldPace.ended() does not count the time until the next step as work", () => {
  const pace = new FoldPace(FOLD_PACE_RULES, 0);
  assert.equal(pace.next(0).waitMs, 0);
  pace.ended(10);
  pace.received(10_000);
  assert.equal(pace.next(1000).waitMs, 0, "it rested long enough");
});

Deno.test("FoldPace.next() folds on when the clock is set back", () => {
  const pace = new FoldPace(FOLD_PACE_RULES, 1_000_000);
  pace.next(1_000_000);
  assert.equal(pace.next(0).waitMs, 0);
});

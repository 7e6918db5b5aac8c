import assert from "node:assert/strict";
import fc from "fast-check";
import {
  afterWindow,
  filterTime,
  isDense,
  nextWindow,
  type TimeWindow,
  type WindowProgress,
} from "./walk.ts";

const second = 1000;

Deno.test("nextWindow() cuts no window from less than a second", () => {
  assert.equal(nextWindow({ doneUpToMs: 5000, spanMs: 60_000 }, 5999), null);
  assert.deepEqual(nextWindow({ doneUpToMs: 5000, spanMs: 0 }, 6000), {
    startMs: 5000,
    endMs: 6000,
  });
});

Deno.test("filterTime() writes whole seconds in UTC", () => {
  assert.equal(
    filterTime(Date.UTC(2026, 10, 20, 9, 5, 0, 999)),
    "2026-11-20T09:05:00Z",
  );
});

Deno.test("isDense() never cuts a single second", () => {
  assert.equal(isDense({ startMs: 0, endMs: 1000 }, 5000, 200), false);
  assert.equal(isDense({ startMs: 0, endMs: 2000 }, 201, 200), true);
  assert.equal(isDense({ startMs: 0, endMs: 2000 }, 200, 200), false);
});

/** Walks windows over items at whole seconds, as the service would answer. */
function walk(
  items: readonly number[],
  startMs: number,
  untilMs: number,
  wanted: number,
  totalKnown: boolean,
): { windows: TimeWindow[]; read: number[]; turns: number } {
  let progress: WindowProgress = {
    doneUpToMs: startMs,
    spanMs: untilMs - startMs,
  };
  const windows: TimeWindow[] = [];
  const read: number[] = [];
  let turns = 0;
  for (;;) {
    const window = nextWindow(progress, untilMs);
    if (window === null) return { windows, read, turns };
    turns += 1;
    const inside = items.filter((at) =>
      at > window.startMs && at <= window.endMs
    );
    if (isDense(window, inside.length, wanted)) {
      const outcome = {
        isDense: true,
        items: totalKnown ? inside.length : null,
      } as const;
      progress = afterWindow(progress, window, outcome, wanted);
      continue;
    }
    windows.push(window);
    read.push(...inside);
    const outcome = { isDense: false, items: inside.length } as const;
    progress = afterWindow(progress, window, outcome, wanted);
  }
}

Deno.test("nextWindow() covers each second once, whatever the density", () => {
  fc.assert(fc.property(
    fc.array(fc.integer({ min: 1, max: 5000 }), { maxLength: 300 }),
    fc.integer({ min: 1, max: 40 }),
    fc.boolean(),
    (seconds, wanted, totalKnown) => {
      const items = seconds.map((s) => s * second).sort((a, b) => a - b);
      const { windows, read, turns } = walk(
        items,
        0,
        5000 * second,
        wanted,
        totalKnown,
      );
      assert.deepEqual(read, items);
      assert.equal(windows[0]?.startMs, 0);
      assert.equal(windows.at(-1)?.endMs, 5000 * second);
      for (const [i, window] of windows.entries()) {
        if (i > 0) assert.equal(window.startMs, windows[i - 1]?.endMs);
        const inside = items.filter((at) =>
          at > window.startMs && at <= window.endMs
        ).length;
        assert.ok(
          inside <= wanted || window.endMs - window.startMs === second,
        );
      }
      assert.ok(turns < 5 * 5000);
    },
  ));
});

Deno.test("afterWindow() lengthens windows again where items are rare", () => {
  const window = { startMs: 0, endMs: 10_000 };
  const progress = { doneUpToMs: 0, spanMs: 10_000 };
  const sparse = afterWindow(
    progress,
    window,
    { isDense: false, items: 3 },
    200,
  );
  assert.deepEqual(sparse, { doneUpToMs: 10_000, spanMs: 20_000 });
  const full = afterWindow(
    progress,
    window,
    { isDense: false, items: 150 },
    200,
  );
  assert.deepEqual(full, { doneUpToMs: 10_000, spanMs: 10_000 });
});

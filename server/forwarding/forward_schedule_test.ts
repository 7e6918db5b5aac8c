import assert from "node:assert/strict";
import {
  FORWARD_ATTEMPTS,
  forwardDelayMs,
  LONGEST_FORWARD_DELAY_MS,
} from "./forward_schedule.ts";

Deno.test("forwardDelayMs() spreads ten attempts over three days, with jitter", () => {
  const total = (random: number) => {
    let sum = 0;
    for (let attempt = 1; attempt < FORWARD_ATTEMPTS; attempt++) {
      sum += forwardDelayMs(attempt, random, null);
    }
    return sum / 3_600_000;
  };
  assert.equal(FORWARD_ATTEMPTS, 10);
  assert.ok(total(0.5) > 75 && total(0.5) < 76, String(total(0.5)));
  assert.equal(forwardDelayMs(1, 0, null), 4000);
  assert.equal(forwardDelayMs(1, 1, null), 6000);
  assert.equal(forwardDelayMs(99, 0.5, null), 24 * 3_600_000);
});

Deno.test("forwardDelayMs() waits at least as long as the receiver asked, and at most a day for it", () => {
  assert.equal(forwardDelayMs(1, 0.5, 60_000), 60_000);
  assert.equal(forwardDelayMs(1, 0.5, 1), 5000);
  assert.equal(forwardDelayMs(1, 0.5, 1e12), 24 * 3_600_000);
});

Deno.test("forwardDelayMs() is never longer than the longest that is said", () => {
  for (let attempt = 1; attempt <= FORWARD_ATTEMPTS; attempt++) {
    const delayMs = forwardDelayMs(attempt, 0.999, Infinity);
    assert.ok(delayMs <= LONGEST_FORWARD_DELAY_MS, String(delayMs));
  }
});

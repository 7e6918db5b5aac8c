import assert from "node:assert/strict";
import { RETRY_DELAYS_MS } from "../../core/waiting/retry_delay.ts";
import { DISABLE_RULES, nextAttemptMs } from "./retry_schedule.ts";

const HOUR = 3_600_000;
const MINUTE = 60_000;

Deno.test("nextAttemptMs() follows each rule to its documented end", () => {
  const ends = DISABLE_RULES.map((rule) => {
    let latestMs = 0;
    for (let failures = 1;; failures++) {
      const next = nextAttemptMs(rule, { failures, firstMs: 0, latestMs });
      if (next === null) return [rule, failures, latestMs];
      assert.ok(next > latestMs);
      latestMs = next;
    }
  });
  assert.deepEqual(ends, [
    ["first_failure", 1, 0],
    ["ladder_from_first", 6, 8 * HOUR],
    ["ladder_from_previous", 6, 15 * HOUR + 5 * MINUTE],
  ]);
});

Deno.test("RETRY_DELAYS_MS is 5 min, 1, 2, 4 and 8 h", () => {
  assert.deepEqual(RETRY_DELAYS_MS, [
    5 * MINUTE,
    HOUR,
    2 * HOUR,
    4 * HOUR,
    8 * HOUR,
  ]);
});

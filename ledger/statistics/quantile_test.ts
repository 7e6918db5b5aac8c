import assert from "node:assert/strict";
import fc from "fast-check";
import { DURATION_BOUNDS } from "../../core/telemetry/meter.ts";
import { quantileMs } from "./quantile.ts";

Deno.test("quantileMs() lies in the bucket that holds the share", () => {
  assert.equal(quantileMs([], 0.5), null);
  assert.equal(quantileMs([0, 0], 0.5), null);
  assert.equal(quantileMs([100], 0.5), 0.5);
  assert.equal(quantileMs([98, 0, 0, 2], 0.99), 7.5);
  const over = DURATION_BOUNDS.map(() => 0).concat(3);
  assert.equal(quantileMs(over, 0.5), 10_000);
});

Deno.test("quantileMs() does not fall as the share grows, whatever the buckets", () => {
  const buckets = fc.array(fc.nat(1000), { maxLength: 14 });
  const share = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(fc.property(buckets, share, share, (counts, a, b) => {
    const [low, high] = [Math.min(a, b), Math.max(a, b)];
    const [less, more] = [quantileMs(counts, low), quantileMs(counts, high)];
    assert.ok(less === null ? more === null : more !== null && less <= more);
  }));
});

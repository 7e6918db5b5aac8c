import { DURATION_BOUNDS } from "../../core/telemetry/meter.ts";

/**
 * Estimates how long the fastest share of requests took at most, from buckets:
 * within a bucket times are taken to be spread evenly.
 *
 * @param buckets How many took how long, by the buckets of `DURATION_BOUNDS`.
 * @param share From 0 to 1: 0.99 for p99.
 * @returns Milliseconds; the highest bound for what took longer than all of
 * them. Null without requests.
 */
export function quantileMs(
  buckets: readonly number[],
  share: number,
): number | null {
  const total = buckets.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  const wanted = share * total;
  let passed = 0;
  for (const [index, count] of buckets.entries()) {
    if (passed + count >= wanted && count > 0) {
      const upper = boundMs(index);
      const lower = index === 0 ? 0 : boundMs(index - 1);
      const within = Math.max(0, wanted - passed) / count;
      return Math.round((lower + (upper - lower) * within) * 100) / 100;
    }
    passed += count;
  }
  return boundMs(buckets.length);
}

function boundMs(index: number): number {
  return (DURATION_BOUNDS[index] ?? DURATION_BOUNDS.at(-1) ?? 0) * 1000;
}

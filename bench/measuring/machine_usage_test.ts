import assert from "node:assert/strict";
import {
  limitOf,
  readCounters,
  type Usage,
  usageBetween,
} from "./machine_usage.ts";

const before = readCounters(
  "cpu  100 0 50 800 20 0 10 20 0 0\ncpu0 1 1\ncpu1 1 1\nintr 5 6\n" +
    "7 (deno) S 1 7 7 0 -1 4 5 0 0 0 40 10 0 0 20 0\n",
);
const after = readCounters(
  "cpu  190 0 60 860 30 0 10 50 9 9\ncpu0 1 1\ncpu1 1 1\nintr 5 6\n" +
    "7 (deno) S 1 7 7 0 -1 4 5 0 0 0 90 10 0 0 20 0\n" +
    "8 (odd (name)) S 1 7 7 0 -1 4 5 0 0 0 9 1 0 0 20 0\n",
);

Deno.test("readCounters() refuses what is not /proc/stat", () => {
  assert.throws(() => readCounters("no such file"), SyntaxError);
});

Deno.test("usageBetween() gives shares of what passed between two moments", () => {
  // Two hundred ticks on two processors: a hundred are one processor.
  assert.deepEqual(usageBetween(before, after), {
    steal: 0.15,
    idle: 0.35,
    processors: 0.6,
    busiest: { name: "deno", share: 0.5 },
  });
});

Deno.test("limitOf() names a busy thread, then the processors, then what is awaited", () => {
  const usage = (share: number, idle: number): Usage => ({
    steal: 0,
    idle,
    processors: 1,
    busiest: { name: "deno", share },
  });
  const limit = (share: number, idle: number): string =>
    limitOf([usage(share, idle), usage(share, idle)], "the disk");
  assert.match(limit(0.96, 0.05), /^one thread \(busiest thread 96 %/);
  assert.match(limit(0.7, 0.02), /^all processors \(.*machine 2 % idle\)$/);
  assert.match(limit(0.5, 0.4), /^the disk \(/);
  assert.match(limitOf([], "the disk"), /^not known/);
});

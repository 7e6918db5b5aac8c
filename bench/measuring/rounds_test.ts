import assert from "node:assert/strict";
import type { Usage } from "./machine_usage.ts";
import { interleave, median } from "./rounds.ts";

Deno.test("median() takes the middle, and of two the lower", () => {
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([4, 1]), 1);
  assert.throws(() => median([]), RangeError);
});

const usage = (steal: number): Usage => ({
  steal,
  idle: 0,
  processors: 1,
  busiest: { name: "deno", share: 1 },
});

Deno.test("interleave() lets nobody always come second", async () => {
  const met: string[] = [];
  const side = (name: string) => () => {
    met.push(name);
    return Promise.resolve(met.length);
  };
  const measured = await interleave(3, { ours: side("o"), theirs: side("t") }, {
    say: () => {},
    watch: async (work) => ({ result: await work(), usage: null }),
  });
  assert.equal(met.join(""), "ottoot");
  assert.deepEqual(measured, {
    ours: { results: [1, 4, 5], usages: [] },
    theirs: { results: [2, 3, 6], usages: [] },
  });
});

Deno.test("interleave() measures again what the host disturbed, three times at most", async () => {
  const steals = [0.06, 0.05, 0.5, 0.4, 0.3, 0.2];
  const said: string[] = [];
  let measurements = 0;
  const { ours } = await interleave(2, {
    ours: () => Promise.resolve(++measurements),
  }, {
    say: (text) => said.push(text),
    watch: async (work) => ({
      result: await work(),
      usage: usage(steals[measurements - 1] ?? 0),
    }),
  });
  assert.deepEqual(ours, {
    results: [2, 6],
    usages: [usage(0.05), usage(0.2)],
  });
  assert.equal(said.filter((text) => text.endsWith("once more")).length, 4);
  assert.match(said.at(-1) ?? "", /^ours: 20 % .*kept/);
});

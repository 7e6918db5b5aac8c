import assert from "node:assert/strict";
import { interleave, median } from "./rounds.ts";

Deno.test("median() takes the middle, and of two the lower", () => {
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([4, 1]), 1);
  assert.throws(() => median([]), RangeError);
});

Deno.test("interleave() lets nobody always come second", async () => {
  const met: string[] = [];
  const side = (name: string) => () => {
    met.push(name);
    return Promise.resolve(met.length);
  };
  const results = await interleave(3, { ours: side("o"), theirs: side("t") });
  assert.equal(met.join(""), "ottoot");
  assert.deepEqual(results, { ours: [1, 4, 5], theirs: [2, 3, 6] });
});

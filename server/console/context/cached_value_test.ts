import assert from "node:assert/strict";
import { CachedValue } from "./page_context.ts";

Deno.test("CachedValue.value() waits for the first value and where the last is too old, and looks again behind the answer once it is old", async () => {
  let nowMs = 0;
  let found = 0;
  const counted = new CachedValue(() => Promise.resolve(++found), {
    now: () => nowMs,
    oldMs: 10,
  });
  assert.equal(await counted.value(), 1);
  nowMs = 9;
  assert.equal(await counted.value(), 1);
  await counted.settled();
  assert.equal(found, 1);
  nowMs = 10;
  assert.equal(await counted.value(), 1);
  await counted.settled();
  assert.equal(await counted.value(), 2);
  nowMs = 70;
  assert.equal(await counted.value(), 3);
});

Deno.test("CachedValue.value() looks once for all who ask at the same time, and again after a failure", async () => {
  let tried = 0;
  const counted = new CachedValue(() => {
    tried++;
    return tried === 1
      ? Promise.reject(new Error("busy"))
      : Promise.resolve(tried);
  }, { now: () => 0, oldMs: 10 });
  const both = [counted.value(), counted.value()];
  for (const one of both) await assert.rejects(one, /busy/);
  assert.equal(tried, 1);
  assert.equal(await counted.value(), 2);
});

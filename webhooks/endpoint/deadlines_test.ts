import assert from "node:assert/strict";
import { Deadlines } from "./deadlines.ts";

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));

Deno.test("add() calls at its time, and not before", async () => {
  let now = 0;
  const deadlines = new Deadlines(() => now, 1);
  const fired: number[] = [];
  for (const dueAt of [30, 10, 20]) {
    deadlines.add(dueAt, () => fired.push(dueAt));
  }
  await pause(10);
  assert.deepEqual(fired, []);
  now = 20;
  await pause(10);
  assert.deepEqual(fired, [10, 20]);
  now = 30;
  await pause(10);
  assert.deepEqual(fired, [10, 20, 30]);
});

Deno.test("remove() and settle() leave no timer", async () => {
  let fired = false;
  const deadlines = new Deadlines(() => 1e9, 1);
  const deadline = deadlines.add(0, () => fired = true);
  deadlines.remove(deadline);
  deadlines.settle();
  await pause(10);
  assert(!fired);
});

Deno.test("race() gives the result or error of the work, or the value for late work", async () => {
  const deadlines = new Deadlines(() => performance.now(), 1);
  const soon = performance.now() + 20;
  assert.equal(await deadlines.race(Promise.resolve(1), soon, 2), 1);
  assert.equal(await deadlines.race(new Promise(() => {}), soon, 2), 2);
  await assert.rejects(
    deadlines.race(Promise.reject(new Error("Broken")), soon, 2),
    /Broken/,
  );
  const late = pause(30).then(() => Promise.reject(new Error("Too late")));
  assert.equal(await deadlines.race(late, soon, 2), 2);
  await pause(30);
  deadlines.settle();
});

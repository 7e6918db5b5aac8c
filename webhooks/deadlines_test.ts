import assert from "node:assert/strict";
import { Deadlines } from "./deadlines.ts";

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));

Deno.test("watch() calls at its time, and not before", async () => {
  let now = 0;
  const deadlines = new Deadlines(() => now, 1);
  const fired: number[] = [];
  for (const dueAt of [30, 10, 20]) {
    deadlines.watch({ dueAt, onDue: () => fired.push(dueAt) });
  }
  await pause(10);
  assert.deepEqual(fired, []);
  now = 20;
  await deadlines.reach(20);
  assert.deepEqual(fired, [10, 20]);
  now = 30;
  await deadlines.reach(30);
  assert.deepEqual(fired, [10, 20, 30]);
});

Deno.test("watch() goes by the time that a deadline was moved to", async () => {
  let now = 0;
  const deadlines = new Deadlines(() => now, 1);
  let fired = 0;
  const moved = { dueAt: 10, onDue: (): number => fired++ };
  deadlines.watch(moved);
  moved.dueAt = 30;
  now = 20;
  await deadlines.reach(20);
  assert.equal(fired, 0);
  now = 30;
  await deadlines.reach(30);
  assert.equal(fired, 1);
});

Deno.test("settle() leaves no timer when everything is over", async () => {
  let fired = false;
  const deadlines = new Deadlines(() => 1e9, 1);
  const over = { dueAt: 0, onDue: (): boolean => fired = true };
  deadlines.watch(over);
  over.dueAt = Infinity;
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

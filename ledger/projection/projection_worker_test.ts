import assert from "node:assert/strict";
import { ProjectionWorker } from "./catch_up.ts";

Deno.test("ProjectionWorker catches up when woken, without waiting for its idle check", async () => {
  let runs = 0;
  let ran = Promise.withResolvers<void>();
  const worker = new ProjectionWorker({
    catchUp: () => {
      runs++;
      ran.resolve();
      return Promise.resolve();
    },
    restMs: 1,
    idleMs: 60_000,
  });
  await ran.promise;
  ran = Promise.withResolvers<void>();
  worker.wake();
  await ran.promise;
  assert.equal(runs, 2);
  await worker.stop();
  assert.equal(runs, 3, "stop() does the work one last time");
});

Deno.test("ProjectionWorker does not miss a wake-up that comes while it works", async () => {
  let appended = 1;
  let seen = 0;
  const done = Promise.withResolvers<void>();
  const worker = new ProjectionWorker({
    catchUp: async () => {
      const head = appended;
      await Promise.resolve();
      if (appended === 1) {
        appended = 2;
        worker.wake();
      }
      seen = head;
      if (seen === 2) done.resolve();
    },
    restMs: 0,
    idleMs: 60_000,
  });
  await done.promise;
  assert.equal(seen, 2);
  await worker.stop();
});

Deno.test("ProjectionWorker reports a failure and tries again by itself", async () => {
  const errors: unknown[] = [];
  const again = Promise.withResolvers<void>();
  let runs = 0;
  const worker = new ProjectionWorker({
    catchUp: () => {
      if (++runs === 1) return Promise.reject(new Error("Busy"));
      again.resolve();
      return Promise.resolve();
    },
    onError: (error) => errors.push(error),
    restMs: 0,
    idleMs: 5,
  });
  await again.promise;
  assert.equal(errors.length, 1);
  await worker.stop();
});

Deno.test("ProjectionWorker.stop() leaves the rest of a long backlog for the next start", async () => {
  const errors: unknown[] = [];
  let steps = 0;
  const first = Promise.withResolvers<void>();
  const worker = new ProjectionWorker({
    catchUp: async (signal) => {
      if (steps++ === 0) return first.resolve();
      // A backlog without an end, folded step by step.
      for (;;) {
        await new Promise((resolve) => setTimeout(resolve, 1));
        signal.throwIfAborted();
      }
    },
    onError: (error) => errors.push(error),
    idleMs: 60_000,
    lastMs: 10,
  });
  await first.promise;
  await worker.stop();
  assert.equal(steps, 2);
  assert.deepEqual(errors, []);
});

Deno.test("ProjectionWorker.stop() ends a long rest at once", async () => {
  const worker = new ProjectionWorker({
    catchUp: () => Promise.resolve(),
    idleMs: 60_000,
  });
  await Promise.resolve();
  await worker.stop();
});

Deno.test("ProjectionWorker folds what comes alone at once, and rests between two runs", async () => {
  let now = 0;
  let ran = Promise.withResolvers<void>();
  const worker = new ProjectionWorker({
    catchUp: () => Promise.resolve(ran.resolve()),
    now: () => now,
    restMs: 60_000,
    idleMs: 600_000,
  });
  await ran.promise;
  await new Promise((resolve) => setTimeout(resolve));
  ran = Promise.withResolvers();
  now += 60_000;
  worker.wake();
  await ran.promise;
  await new Promise((resolve) => setTimeout(resolve));
  let again = false;
  ran = Promise.withResolvers();
  void ran.promise.then(() => again = true);
  now += 30_000;
  worker.wake();
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(again, false, "the rest lasts until a minute after the last");
  await worker.stop();
});

import assert from "node:assert/strict";
import { ProjectionWorker } from "./projection_worker.ts";

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

Deno.test("ProjectionWorker.stop() ends a long rest at once", async () => {
  const worker = new ProjectionWorker({
    catchUp: () => Promise.resolve(),
    idleMs: 60_000,
  });
  await Promise.resolve();
  await worker.stop();
});

Deno.test("ProjectionWorker lets many appends go first, and then takes a small step", async () => {
  let now = 0;
  const paces: number[] = [];
  const done = Promise.withResolvers<void>();
  const worker: ProjectionWorker = new ProjectionWorker({
    catchUp: async (_, pace) => {
      await Promise.resolve();
      const appends = setInterval(() => {
        now += 100;
        for (let append = 0; append < 200; append++) worker.wake();
      }, 5);
      for (let append = 0; append < 200; append++) worker.wake();
      paces.push(await pace(), now);
      clearInterval(appends);
      done.resolve();
    },
    now: () => now,
    maxYieldMs: 1_000,
    idleMs: 60_000,
  });
  await done.promise;
  const [mostEvents, waitedMs = 0] = paces;
  assert.equal(mostEvents, 500);
  assert.ok(waitedMs >= 1_000 && waitedMs < 5_000, `waited ${waitedMs} ms`);
  await worker.stop();
});

Deno.test("ProjectionWorker does not wait when appends are few", async () => {
  let now = 0;
  const paces: number[] = [];
  const done = Promise.withResolvers<void>();
  const worker: ProjectionWorker = new ProjectionWorker({
    catchUp: async (_, pace) => {
      await Promise.resolve();
      now += 1_000;
      for (let append = 0; append < 90; append++) worker.wake();
      paces.push(await pace());
      done.resolve();
    },
    now: () => now,
    idleMs: 60_000,
  });
  await done.promise;
  assert.deepEqual(paces, [500]);
  await worker.stop();
});

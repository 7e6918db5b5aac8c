import assert from "node:assert/strict";
import fc from "fast-check";
import { virtualClock } from "./clock.ts";

Deno.test("virtualClock() runs timers by time, then by when they were set", async () => {
  await fc.assert(fc.asyncProperty(
    fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 40 }),
    async (delays) => {
      const clock = virtualClock(1_000, { turns: 1 });
      const ran: [number, number][] = [];
      delays.forEach((delay, index) =>
        clock.setTimer(delay, () => ran.push([clock.now() - 1_000, index]))
      );
      await clock.advance(20);
      const expected = delays.map((delay, index): [number, number] => [
        delay,
        index,
      ]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
      assert.deepEqual(ran, expected);
      assert.equal(clock.now(), 1_020);
      assert.equal(clock.pendingTimers, 0);
    },
  ));
});

Deno.test("virtualClock() runs each timer that was not cancelled, and no other", async () => {
  await fc.assert(fc.asyncProperty(
    fc.array(fc.tuple(fc.integer({ min: 0, max: 9 }), fc.boolean())),
    async (timers) => {
      const clock = virtualClock(0, { turns: 1 });
      let ran = 0;
      for (const [delay, isCancelled] of timers) {
        const cancel = clock.setTimer(delay, () => ran++);
        if (isCancelled) {
          cancel();
          cancel();
        }
        assert.ok((clock.nextDueMs ?? 0) <= (isCancelled ? 9 : delay));
      }
      const kept = timers.filter(([, isCancelled]) => !isCancelled).length;
      assert.equal(clock.pendingTimers, kept);
      await clock.advance(9);
      assert.equal(ran, kept);
      assert.equal(clock.nextDueMs, null);
    },
  ));
});

Deno.test("advance() runs a chain of sleeps", async () => {
  const clock = virtualClock(0);
  const seen: number[] = [];
  const chain = (async () => {
    for (let count = 0; count < 5; count++) {
      await clock.sleep(100);
      seen.push(clock.now());
    }
  })();
  await clock.advance(250);
  assert.deepEqual(seen, [100, 200]);
  await clock.advance(1_000);
  await chain;
  assert.deepEqual(seen, [100, 200, 300, 400, 500]);
  assert.equal(clock.now(), 1_250);
});

Deno.test("advance() refuses to go back", () => {
  assert.throws(() => virtualClock(0).advance(-1), RangeError);
  assert.throws(() => virtualClock(0).advance(NaN), RangeError);
});

Deno.test("advance() queues behind a move that is under way", async () => {
  const clock = virtualClock(0);
  clock.setTimer(5, () => {});
  await Promise.all([clock.advance(10), clock.advance(10), clock.runUntil(7)]);
  assert.equal(clock.now(), 20);
});

Deno.test("advance() rejects with what a timer throws, and can be called again", async () => {
  const clock = virtualClock(0);
  clock.setTimer(1, () => {
    throw new Error("boom");
  });
  await assert.rejects(clock.advance(10), /boom/);
  await clock.advance(10);
  assert.equal(clock.now(), 11);
});

Deno.test("sleep() ends early with the signal's reason", async () => {
  const clock = virtualClock(0);
  const stop = new AbortController();
  const slept = clock.sleep(1_000, stop.signal);
  stop.abort(new Error("enough"));
  await assert.rejects(slept, /enough/);
  assert.equal(clock.pendingTimers, 0);
  await assert.rejects(clock.sleep(1, stop.signal), /enough/);
});

Deno.test("work() stops time until work in real time is done", async () => {
  const clock = virtualClock(0);
  let doneAt = -1;
  clock.setTimer(10, () => {
    const work = clock.work(
      new Promise<void>((resolve) => setTimeout(resolve, 20)),
    );
    void work.then(() => doneAt = clock.now());
  });
  clock.setTimer(11, () => {});
  await clock.advance(1_000);
  assert.equal(doneAt, 10);
});

Deno.test("work() does not stop time for work that failed", async () => {
  const clock = virtualClock(0);
  await assert.rejects(clock.work(Promise.reject(new Error("no"))), /no/);
  await clock.advance(1);
  assert.equal(clock.now(), 1);
});

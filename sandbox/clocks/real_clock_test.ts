import assert from "node:assert/strict";
import { fastClock, realClock } from "./real_clock.ts";

Deno.test("realClock() waits in real time and can be cancelled", async () => {
  const clock = realClock();
  let rang = false;
  const cancel = clock.setTimer(5, () => rang = true);
  cancel();
  const before = performance.now();
  await clock.sleep(15);
  assert.ok(performance.now() - before >= 14);
  assert.equal(rang, false);
  assert.equal(await clock.work(Promise.resolve(3)), 3);
});

Deno.test("realClock() takes timers beyond the runtime's limit", () => {
  const cancel = realClock().setTimer(60 * 86_400_000, () => assert.fail());
  cancel();
});

Deno.test("fastClock() passes as many times faster as asked", async () => {
  const clock = fastClock({ factor: 10_000, startMs: 0 });
  const before = performance.now();
  await clock.sleep(200_000);
  const realMs = performance.now() - before;
  assert.ok(clock.now() >= 200_000);
  assert.ok(realMs >= 15 && realMs < 60_000, `took ${realMs} ms`);
  assert.ok(clock.wire.now() > 1_700_000_000_000);
});

Deno.test("setFactor() moves timers that are already set", async () => {
  const clock = fastClock({ factor: 1, startMs: 0 });
  const slept = clock.sleep(3_600_000);
  clock.setFactor(360_000);
  assert.equal(clock.factor, 360_000);
  await slept;
  assert.ok(clock.now() >= 3_600_000);
});

Deno.test("fastClock() refuses a pace that stops time", () => {
  for (const factor of [0, -1, NaN, Infinity]) {
    assert.throws(() => fastClock({ factor }), RangeError);
  }
});

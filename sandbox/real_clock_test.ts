import assert from "node:assert/strict";
import { createSandbox } from "./create_sandbox.ts";
import { realClock, virtualClock } from "./clock.ts";

const HOUR = 3_600_000;

Deno.test("realClock() follows the real clock while it is not moved", async () => {
  const real = virtualClock(1_000);
  const clock = realClock({ wire: real });
  const rang: string[] = [];
  clock.setTimer(500, () => rang.push(`rang at ${clock.now()}`));
  const cancel = clock.setTimer(400, () => rang.push("cancelled"));
  cancel();
  await real.advance(499);
  assert.deepEqual(rang, []);
  await real.advance(1);
  assert.deepEqual(rang, ["rang at 1500"]);
  assert.equal(real.pendingTimers, 0);
});

Deno.test("advance() runs timers due on the way, in order and at their time", async () => {
  const clock = realClock({ wire: virtualClock(0) });
  const rang: [string, number][] = [];
  clock.setTimer(3 * HOUR, () => rang.push(["last", clock.now()]));
  clock.setTimer(20 * HOUR, () => rang.push(["beyond", clock.now()]));
  clock.setTimer(HOUR, () => {
    rang.push(["first", clock.now()]);
    clock.setTimer(HOUR, () => rang.push(["second", clock.now()]));
  });
  await Promise.all([clock.advance(2 * HOUR), clock.advance(8 * HOUR)]);
  assert.deepEqual(rang, [
    ["first", HOUR],
    ["second", 2 * HOUR],
    ["last", 3 * HOUR],
  ]);
  assert.equal(clock.now(), 10 * HOUR);
  assert.equal(clock.movedMs, 10 * HOUR);
});

Deno.test("advance() shortens the real wait of later timers", async () => {
  const real = virtualClock(0);
  const clock = realClock({ wire: real });
  let rang = false;
  clock.setTimer(HOUR, () => rang = true);
  await clock.advance(HOUR - 5);
  await real.advance(4);
  assert.equal(rang, false);
  await real.advance(1);
  assert.equal(rang, true);
});

Deno.test("advance() refuses to go back", () => {
  for (const ms of [-1, NaN]) {
    assert.throws(() => realClock().advance(ms), RangeError);
  }
});

Deno.test("advance() runs a whole retry schedule over real HTTP, each retry at its time", async () => {
  await using endpoint = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    () => new Response(null, { status: 500 }),
  );
  const clock = realClock();
  await using sandbox = createSandbox({
    clock,
    webhookUrl: `http://127.0.0.1:${endpoint.addr.port}/`,
  });
  sandbox.advance(sandbox.createOrder().orderId, "pay");
  await clock.advance(16 * HOUR);
  assert.equal(sandbox.delivery.state, "disabled");
  const [delivery] = sandbox.deliveries();
  const gaps = delivery?.attempts.map(({ atMs }, index, all) =>
    Math.round((atMs - (all[index - 1]?.atMs ?? atMs)) / 60_000)
  );
  assert.deepEqual(gaps, [0, 5, 60, 120, 240, 480]);
});

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

Deno.test("realClock() passes as many times faster as asked", async () => {
  const clock = realClock({ factor: 10_000, startMs: 0 });
  const before = performance.now();
  await clock.sleep(200_000);
  const realMs = performance.now() - before;
  assert.ok(clock.now() >= 200_000);
  assert.ok(realMs >= 15 && realMs < 60_000, `took ${realMs} ms`);
  assert.ok(clock.wire.now() > 1_700_000_000_000);
});

Deno.test("setFactor() moves timers that are already set", async () => {
  const clock = realClock({ factor: 1, startMs: 0 });
  const slept = clock.sleep(3_600_000);
  clock.setFactor(360_000);
  assert.equal(clock.factor, 360_000);
  await slept;
  assert.ok(clock.now() >= 3_600_000);
});

Deno.test("realClock() refuses a pace that stops time", () => {
  for (const factor of [0, -1, NaN, Infinity]) {
    assert.throws(() => realClock({ factor }), RangeError);
  }
});

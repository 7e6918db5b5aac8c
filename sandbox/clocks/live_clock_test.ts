import assert from "node:assert/strict";
import { createSandbox } from "../sandbox.ts";
import { isMovable, LiveClock } from "./live_clock.ts";
import { realClock } from "./real_clock.ts";
import { virtualClock } from "./virtual_clock.ts";

const HOUR = 3_600_000;

Deno.test("isMovable() tells a clock that can be moved from one that cannot", () => {
  assert.equal(isMovable(new LiveClock()), true);
  assert.equal(isMovable(virtualClock(0)), true);
  assert.equal(isMovable(realClock()), false);
});

Deno.test("LiveClock follows the real clock while it is not moved", async () => {
  const real = virtualClock(1_000);
  const clock = new LiveClock(real);
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
  const clock = new LiveClock(virtualClock(0));
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
  const clock = new LiveClock(real);
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
    assert.throws(() => new LiveClock().advance(ms), RangeError);
  }
});

Deno.test("advance() runs a whole retry schedule over real HTTP, each retry at its time", async () => {
  await using endpoint = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    () => new Response(null, { status: 500 }),
  );
  const clock = new LiveClock();
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

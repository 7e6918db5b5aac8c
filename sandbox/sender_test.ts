import assert from "node:assert/strict";
import { createSandbox } from "./create_sandbox.ts";
import { type VirtualClock, virtualClock } from "./clock.ts";
import { DISABLE_RULES, type Sandbox, type SandboxOptions } from "./sandbox.ts";

const START = Date.UTC(2026, 0, 1);
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** What an endpoint that was called has seen. */
interface Heard {
  readonly atMs: number;
  readonly type: string;
  readonly body: string;
}

interface Scene {
  readonly clock: VirtualClock;
  readonly sandbox: Sandbox;
  readonly heard: Heard[];
}

/** A sandbox whose partner answers as told, on a virtual clock. */
function scene(
  respond: (
    nth: number,
    clock: VirtualClock,
  ) => Response | Promise<Response> = () => new Response(null, { status: 204 }),
  options: SandboxOptions = {},
): Scene {
  const clock = virtualClock(START);
  const heard: Heard[] = [];
  const sandbox = createSandbox({
    clock,
    webhookUrl: "http://partner/webhooks/secret",
    ...options,
    fetch: async (_input, init) => {
      const body = String(init?.body);
      let type = "malformed";
      try {
        type = JSON.parse(body).type;
      } catch {
        // Cut short on purpose.
      }
      heard.push({ atMs: clock.now() - START, type, body });
      return await respond(heard.length, clock);
    },
  });
  return { clock, sandbox, heard };
}

function payOne({ sandbox }: Scene): string {
  const { orderId } = sandbox.createOrder();
  sandbox.advance(orderId, "pay");
  return orderId;
}

for (const [answerMs, status] of [[4_999, 204], [5_000, 204], [5_001, 0]]) {
  Deno.test(`send() logs ${status} for an answer after ${answerMs} ms`, async () => {
    const stage = scene(async (_nth, clock) => {
      await clock.sleep(answerMs ?? 0);
      return new Response(null, { status: 204 });
    });
    payOne(stage);
    await stage.clock.advance(6 * SECOND);
    const [delivery] = stage.sandbox.deliveries();
    assert.equal(delivery?.attempts[0]?.status, status);
    assert.equal(delivery?.state, status === 204 ? "received" : "pending");
    assert.equal(stage.sandbox.counters.timeouts, status === 204 ? 0 : 1);
    await stage.sandbox.close();
  });
}

const LADDERS: Record<string, number[]> = {
  first_failure: [0],
  ladder_from_first: [0, 5 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR],
  ladder_from_previous: [
    0,
    5 * MINUTE,
    HOUR + 5 * MINUTE,
    3 * HOUR + 5 * MINUTE,
    7 * HOUR + 5 * MINUTE,
    15 * HOUR + 5 * MINUTE,
  ],
};

for (const disableRule of DISABLE_RULES) {
  Deno.test(`send() retries and switches delivery off by ${disableRule}`, async () => {
    const refuse = () => new Response(null, { status: 500 });
    const stage = scene(refuse, { disableRule });
    payOne(stage);
    const times = LADDERS[disableRule] ?? [];
    const lastMs = times.at(-1) ?? 0;
    if (lastMs > 0) {
      await stage.clock.advance(lastMs - 1);
      assert.equal(stage.sandbox.delivery.state, "retrying");
      await stage.clock.advance(1);
    } else await stage.clock.advance(0);
    assert.deepEqual(stage.heard.map((one) => one.atMs), times);
    assert.equal(stage.sandbox.delivery.state, "disabled");
    assert.equal(stage.sandbox.delivery.disabledSinceMs, START + lastMs);
    await stage.clock.advance(48 * HOUR);
    assert.equal(stage.heard.length, times.length);
    const [delivery] = stage.sandbox.deliveries();
    assert.equal(delivery?.state, "failed");
    assert.equal(delivery?.nextAttemptMs, null);
    await stage.sandbox.idle();
    await stage.sandbox.close();
  });
}

Deno.test("send() stops retrying when a retry is answered 2xx", async () => {
  for (let good = 1; good <= 6; good++) {
    const stage = scene((nth) =>
      new Response(null, { status: nth === good ? 200 : 404 })
    );
    payOne(stage);
    await stage.clock.advance(48 * HOUR);
    assert.equal(stage.heard.length, good);
    assert.equal(stage.sandbox.delivery.state, "enabled");
    assert.equal(stage.sandbox.counters.retries, good - 1);
    assert.equal(new Set(stage.heard.map((one) => one.body)).size, 1);
    await stage.sandbox.close();
  }
});

Deno.test("send() counts every answer but 2xx as failed, redirects too", async () => {
  for (
    const status of [200, 201, 204, 299, 301, 302, 400, 401, 404, 429, 503]
  ) {
    const stage = scene(() => new Response(null, { status }));
    payOne(stage);
    await stage.clock.advance(0);
    const received = status < 300;
    const [delivery] = stage.sandbox.deliveries();
    assert.equal(delivery?.state, received ? "received" : "pending");
    assert.equal(delivery?.attempts[0]?.status, status);
    await stage.sandbox.close();
  }
});

Deno.test("send() logs 0 when the endpoint cannot be reached", async () => {
  const stage = scene(() => Promise.reject(new TypeError("refused")));
  payOne(stage);
  await stage.clock.advance(0);
  const attempt = stage.sandbox.deliveries()[0]?.attempts[0];
  assert.equal(attempt?.status, 0);
  assert.equal(stage.sandbox.counters.timeouts, 0);
  await stage.sandbox.close();
});

Deno.test("send() drops events while delivery is switched off", async () => {
  let healthy = false;
  const stage = scene(
    () => new Response(null, { status: healthy ? 204 : 500 }),
    { disableRule: "ladder_from_first" },
  );
  const { sandbox, clock } = stage;
  payOne(stage);
  await clock.advance(HOUR);
  const waiting = payOne(stage);
  await clock.advance(7 * HOUR);
  assert.equal(sandbox.delivery.state, "disabled");
  const other = sandbox.deliveries().find((one) => one.orderId === waiting);
  assert.equal(other?.state, "failed");

  const lost = payOne(stage);
  await clock.advance(HOUR);
  assert.equal(
    sandbox.deliveries().find((one) => one.orderId === lost)?.state,
    "notSent",
  );
  healthy = true;
  sandbox.enableDelivery();
  assert.equal(sandbox.delivery.state, "enabled");
  const heardBefore = stage.heard.length;
  payOne(stage);
  await clock.advance(48 * HOUR);
  assert.equal(stage.heard.length, heardBefore + 1);
  assert.equal(sandbox.counters.notSent, 1);
  assert.equal(sandbox.counters.disabled, 1);
  await sandbox.close();
});

Deno.test("send() counts an attempt that is open when delivery is switched off", async () => {
  const stage = scene(async (nth, clock) => {
    await clock.sleep(nth === 1 ? 1_000 : 2_000);
    return new Response(null, { status: nth === 1 ? 500 : 204 });
  }, { disableRule: "first_failure" });
  payOne(stage);
  const second = payOne(stage);
  await stage.clock.advance(1_500);
  assert.equal(stage.sandbox.delivery.state, "disabled");
  await stage.clock.advance(1_000);
  assert.equal(
    stage.sandbox.deliveries().find((one) => one.orderId === second)?.state,
    "received",
  );
  await stage.sandbox.close();
});

Deno.test("pressTest() tries once, even while delivery is off", async () => {
  const stage = scene(() => new Response(null, { status: 500 }), {
    disableRule: "first_failure",
  });
  const first = await stage.sandbox.pressTest();
  assert.equal(first.state, "failed");
  assert.equal(stage.sandbox.delivery.state, "enabled");
  payOne(stage);
  await stage.clock.advance(HOUR);
  assert.equal(stage.sandbox.delivery.state, "disabled");
  await stage.sandbox.pressTest();
  assert.deepEqual(
    stage.heard.map((one) => one.type),
    ["test", "payment_started", "test"],
  );
  const body = JSON.parse(stage.heard[0]?.body ?? "");
  assert.equal(body.click_id, "test_click_id");
  assert.equal(body.order.id, "");
  stage.sandbox.setWebhookUrl(null);
  assert.equal((await stage.sandbox.pressTest()).state, "notSent");
  await stage.sandbox.close();
});

Deno.test("send() sends nothing when drop strikes, and records it", async () => {
  const stage = scene(undefined, { faults: { drop: 1 } });
  payOne(stage);
  await stage.clock.advance(24 * HOUR);
  assert.equal(stage.heard.length, 0);
  assert.equal(stage.sandbox.deliveries()[0]?.state, "dropped");
  assert.equal(stage.sandbox.counters.dropped, 1);
  await stage.sandbox.close();
});

Deno.test("send() sends the same body again within a minute when duplicate strikes", async () => {
  const stage = scene(undefined, { faults: { duplicate: 1 } });
  payOne(stage);
  await stage.clock.advance(MINUTE);
  const [first, second] = stage.heard;
  assert.equal(stage.heard.length, 2);
  assert.equal(second?.body, first?.body);
  assert.deepEqual(
    stage.sandbox.deliveries()[0]?.attempts.map((one) => one.copy),
    [false, true],
  );
  await stage.sandbox.close();
});

Deno.test("send() sends late but within ten minutes when delay strikes", async () => {
  const stage = scene(undefined, { faults: { delay: 1 } });
  payOne(stage);
  await stage.clock.advance(999);
  assert.equal(stage.heard.length, 0);
  await stage.clock.advance(10 * MINUTE);
  assert.equal(stage.heard.length, 1);
  assert.equal(stage.sandbox.counters.delayed, 1);
  await stage.sandbox.close();
});

Deno.test("send() lets the next event of the order overtake when reorder strikes", async () => {
  const stage = scene(undefined, { faults: { reorder: 1 } });
  const orderId = payOne(stage);
  await stage.clock.advance(MINUTE);
  assert.equal(stage.heard.length, 0);
  stage.sandbox.advance(orderId, "complete");
  await stage.clock.advance(SECOND);
  assert.deepEqual(
    stage.heard.map((one) => one.type),
    ["order_complete", "payment_started"],
  );
  payOne(stage);
  await stage.clock.advance(5 * MINUTE);
  assert.equal(stage.heard.length, 3, "held back for ever");
  await stage.sandbox.idle();
  await stage.sandbox.close();
});

Deno.test("send() cuts the body short when malformed strikes", async () => {
  const stage = scene(undefined, { faults: { malformed: 1 } });
  payOne(stage);
  await stage.clock.advance(0);
  assert.equal(stage.heard[0]?.type, "malformed");
  assert.equal(stage.sandbox.deliveries()[0]?.malformed, true);
  assert.equal(stage.sandbox.deliveries()[0]?.body, stage.heard[0]?.body);
  await stage.sandbox.close();
});

Deno.test("send() retries an answered event when answerLost strikes, and records the truth", async () => {
  const stage = scene(undefined, { faults: { answerLost: 1 } });
  payOne(stage);
  await stage.clock.advance(0);
  stage.sandbox.heal();
  await stage.clock.advance(5 * MINUTE);
  const [delivery] = stage.sandbox.deliveries();
  assert.deepEqual(
    delivery?.attempts.map(({ status, truth }) => [status, truth.answered]),
    [[0, 204], [204, 204]],
  );
  assert.equal(stage.heard.length, 2);
  await stage.sandbox.close();
});

Deno.test("send() fails attempts only inside endpointDownSpans", async () => {
  const span = { fromMs: START, untilMs: START + 2 * HOUR };
  const stage = scene(undefined, { faults: { endpointDownSpans: [span] } });
  payOne(stage);
  await stage.clock.advance(24 * HOUR);
  const [delivery] = stage.sandbox.deliveries();
  assert.deepEqual(
    delivery?.attempts.map((one) => one.truth.reached),
    [false, false, false, true],
  );
  assert.equal(stage.heard[0]?.atMs, 3 * HOUR + 5 * MINUTE);
  await stage.sandbox.close();
});

Deno.test("send() keeps delivery off after endpointDownSpans covered all retries, and its end does not bring it back", async () => {
  const span = { fromMs: START, untilMs: START + 20 * HOUR };
  const stage = scene(undefined, { faults: { endpointDownSpans: [span] } });
  const { sandbox, clock } = stage;
  payOne(stage);
  await clock.advance(15 * HOUR + 5 * MINUTE);
  assert.equal(sandbox.delivery.state, "disabled");
  await clock.advance(48 * HOUR);
  payOne(stage);
  await clock.advance(HOUR);
  assert.deepEqual(stage.heard, []);
  assert.equal(sandbox.counters.requestsLost, 6);
  sandbox.enableDelivery();
  payOne(stage);
  await clock.advance(0);
  assert.equal(stage.heard.length, 1);
  await sandbox.close();
});

for (const fault of [{ requestLost: 1 }, { endpointDown: true }]) {
  Deno.test(`send() reaches no endpoint while ${Object.keys(fault)} is on`, async () => {
    const stage = scene(undefined, { faults: fault });
    payOne(stage);
    await stage.clock.advance(2 * MINUTE);
    assert.deepEqual(stage.heard, []);
    const [lost] = stage.sandbox.deliveries();
    assert.equal(lost?.attempts[0]?.status, 0);
    assert.deepEqual(lost?.attempts[0]?.truth, {
      reached: false,
      answered: null,
    });
    stage.sandbox.heal();
    await stage.clock.advance(3 * MINUTE);
    assert.deepEqual(stage.heard.map(({ atMs }) => atMs), [5 * MINUTE]);
    assert.equal(stage.sandbox.deliveries()[0]?.state, "received");
    await stage.sandbox.close();
  });
}

Deno.test("WebhookEmitter sends a false order_complete beside the true event when forge strikes", async () => {
  const stage = scene(undefined, { faults: { forge: 1 } });
  const orderId = payOne(stage);
  await stage.clock.advance(MINUTE);
  assert.equal(stage.sandbox.order(orderId)?.status, "progress");
  const forged = stage.sandbox.deliveries().filter((one) =>
    one.cause === "forged"
  );
  assert.equal(forged.length, 1);
  assert.equal(forged[0]?.attempts.length, 1);
  assert.equal(stage.heard[1]?.type, "order_complete");
  await stage.sandbox.close();
});

Deno.test("WebhookEmitter forges events about real and invented orders", async () => {
  const stage = scene(undefined, { faults: { forge: 1 } });
  for (let count = 0; count < 12; count++) payOne(stage);
  await stage.clock.advance(MINUTE);
  const real = stage.sandbox.deliveries().filter((one) =>
    one.cause === "forged"
  ).map((one) => stage.sandbox.order(one.orderId ?? "") !== null);
  assert.deepEqual([...new Set(real)].sort(), [false, true]);
  await stage.sandbox.close();
});

Deno.test("WebhookEmitter adds an undocumented event when unknownType strikes", async () => {
  const stage = scene(undefined, { faults: { unknownType: 1 } });
  payOne(stage);
  await stage.clock.advance(0);
  assert.equal(stage.heard.length, 2);
  assert.equal(stage.sandbox.deliveries()[1]?.cause, "unknownType");
  assert.equal(stage.sandbox.counters.events, 1);
  await stage.sandbox.close();
});

Deno.test("trigger() sets any field of any event", async () => {
  const stage = scene();
  const { sandbox } = stage;
  const order = sandbox.createOrder();
  sandbox.trigger({
    type: "order_failed",
    orderId: order.orderId,
    fields: {
      click_id: "other",
      hpp_session_id: undefined,
      order: { base_amount: "7", error_code: "4004", extra: [1] },
    },
  });
  sandbox.trigger({ type: "login", userId: order.userId });
  sandbox.trigger({ type: "otp_status", userId: order.userId });
  sandbox.trigger({ type: "something_new" });
  sandbox.trigger({ type: "test" });
  await stage.clock.advance(0);
  const bodies = stage.heard.map((one) => JSON.parse(one.body));
  assert.deepEqual(bodies.map((body) => body.type), [
    "order_failed",
    "login",
    "otp_status",
    "something_new",
    "test",
  ]);
  assert.equal(bodies[0].click_id, "other");
  assert.ok(!("hpp_session_id" in bodies[0]));
  assert.equal(bodies[0].order.base_amount, "7");
  assert.equal(bodies[0].order.id, order.orderId);
  assert.deepEqual(bodies[0].order.extra, [1]);
  assert.equal(sandbox.order(order.orderId)?.status, "created");
  assert.throws(
    () => sandbox.trigger({ type: "x", orderId: "no" }),
    RangeError,
  );
  await sandbox.close();
});

Deno.test("close() leaves no timer and no request", async () => {
  const stage = scene(() => new Promise<Response>(() => {}), {
    faults: { forge: 1, duplicate: 1 },
  });
  payOne(stage);
  const refused = scene(() => new Response(null, { status: 500 }));
  payOne(refused);
  await refused.clock.advance(0);
  await stage.clock.advance(SECOND);
  await stage.sandbox.close();
  await refused.sandbox.close();
  assert.equal(stage.clock.pendingTimers, 0);
  assert.equal(refused.clock.pendingTimers, 0);
  payOne(refused);
  await refused.clock.advance(HOUR);
  assert.equal(refused.heard.length, 1);
});

Deno.test("Sandbox sends the same bodies at the same times for the same seed", async () => {
  const run = async (seed: number) => {
    const stage = scene(
      (nth) => new Response(null, { status: nth % 9 === 0 ? 500 : 204 }),
      {
        seed,
        faults: {
          drop: 0.1,
          duplicate: 0.2,
          delay: 0.2,
          reorder: 0.2,
          forge: 0.1,
          malformed: 0.1,
          answerLost: 0.1,
          requestLost: 0.1,
          unknownType: 0.1,
        },
      },
    );
    void stage.sandbox.populate({ orders: 20, spanMs: HOUR });
    await stage.clock.advance(30 * HOUR);
    await stage.sandbox.close();
    return { heard: stage.heard, truth: stage.sandbox.truth() };
  };
  const first = await run(5);
  assert.ok(first.heard.length > 100);
  assert.deepEqual(await run(5), first);
  assert.notDeepEqual((await run(6)).truth, first.truth);
});

Deno.test("deliveries() gives all or the latest, oldest first", async () => {
  await using sandbox = createSandbox();
  for (let number = 1; number <= 10; number++) {
    sandbox.trigger({ type: "login" });
    const kept = (latest?: number) =>
      sandbox.deliveries(latest).map((one) => one.number);
    const all = Array.from({ length: number }, (_, at) => at + 1);
    assert.deepEqual(kept(), all);
    assert.deepEqual(kept(3), all.slice(-3));
    assert.deepEqual(kept(0), []);
  }
});

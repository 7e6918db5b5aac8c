import assert from "node:assert/strict";
import { webhookEndpoint } from "../../webhooks/mod.ts";
import type { Ledger } from "../ledger.ts";
import { openLedger } from "../open_ledger.ts";
import { createPoller } from "./poller.ts";
import { countingBytes, moving, type Service, service } from "./kit_test.ts";
import { watchdog } from "./watchdog.ts";
import type { DeliveryHealth } from "./watchdog_rule.ts";

const minute = 60_000;
const hour = 60 * minute;
const secret = "a-secret-that-nobody-guesses";

/** A service whose webhooks reach a ledger, and a poller that runs. */
interface Partner extends AsyncDisposable {
  readonly box: Service;
  readonly ledger: Ledger;
  readonly alerts: DeliveryHealth[];
  readonly looks: DeliveryHealth[];
  /** How many of the next alerts nobody takes, and what came of that. */
  readonly refused: { next: number; errors: unknown[] };
  pass(ms: number): Promise<void>;
  buy(): Promise<void>;
  restart(): Promise<void>;
}

async function partner(): Promise<Partner> {
  const deliver = { to: (_: Request) => Promise.resolve(new Response()) };
  const box = service({
    webhookUrl: `http://partner/webhooks/${secret}`,
    fetch: (input, init) => deliver.to(new Request(input, init)),
    faults: {},
  });
  const now = () => box.clock.now();
  const ledger = await openLedger({
    url: ":memory:",
    environment: "sandbox",
    now,
  });
  const endpoint = webhookEndpoint({
    append: ledger.appendDelivery,
    secrets: [secret],
    now,
  });
  deliver.to = (request) => endpoint(request);
  const alerts: DeliveryHealth[] = [];
  const looks: DeliveryHealth[] = [];
  const refused = { next: 0, errors: [] as unknown[] };
  let stop = new AbortController();
  const start = () =>
    createPoller({
      ledger,
      client: box.client,
      now,
      sleep: (ms, signal) => box.clock.sleep(ms, signal),
      randomBytes: countingBytes(),
      holder: "test",
      requestsPerSecond: 1000,
      confirmEveryMs: minute,
      followEveryMs: minute,
      openEveryMs: minute,
      watchEveryMs: minute,
      leaseMs: hour,
      onWatch: (health) => {
        looks.push(health);
      },
      onAlert: (health) => {
        if (refused.next-- > 0) throw refused;
        alerts.push(health);
      },
      onError: (error) => {
        if (error !== refused) assert.fail(String(error));
        refused.errors.push(error);
      },
    }).run(stop.signal);
  let running = start();
  const end = async () => {
    stop.abort();
    await moving(running, box.clock);
  };
  const pass = (ms: number) => moving(box.clock.sleep(ms), box.clock);
  return {
    box,
    ledger,
    alerts,
    looks,
    refused,
    pass,
    async buy() {
      const { orderId } = box.sandbox.createOrder();
      for (const step of ["pay", "authorise", "complete"] as const) {
        await pass(20_000);
        box.sandbox.advance(orderId, step);
      }
    },
    async restart() {
      await end();
      stop = new AbortController();
      running = start();
    },
    async [Symbol.asyncDispose]() {
      await end();
      await endpoint.drain();
      await ledger.close();
      await box[Symbol.asyncDispose]();
    },
  };
}

Deno.test("watchdog() raises the alarm long before the last retry", async () => {
  await using all = await partner();
  const { box, alerts, pass, buy, restart } = all;
  await pass(minute);
  await buy();
  await pass(2 * hour);
  assert.equal(alerts.length, 0, "no alarm in quiet hours");

  box.sandbox.setFaults({ endpointDown: true });
  const diedMs = box.clock.now();
  await buy();
  await pass(30 * minute);
  const [alarm] = alerts;
  assert.ok(alarm?.deliverySuspected);
  const sinceMs = Date.parse(alarm.since ?? "");
  assert.ok(Math.abs(sinceMs - diedMs) < 2 * minute);
  assert.ok(
    alarm.countdown !== null && alarm.countdown.leftFromFirstMs > 7 * hour,
  );
  assert.equal(box.sandbox.delivery.state, "retrying");
  await restart();
  await pass(hour);
  assert.equal(alerts.length, 1, "one alarm, also across a restart");

  box.sandbox.heal();
  await pass(3 * hour);
  assert.equal(alerts.length, 2);
  assert.equal(alerts[1]?.deliverySuspected, false);
});

Deno.test("watchdog() does not cry over one lost webhook among others", async () => {
  await using all = await partner();
  const { box, alerts, pass, buy } = all;
  await pass(minute);
  box.sandbox.setFaults({ drop: 1 });
  await buy();
  box.sandbox.heal();
  await buy();
  await pass(hour);
  assert.equal(alerts.length, 0);
});

Deno.test("watchdog() does not mind a service clock ten minutes off", async () => {
  for (const clockSkewMs of [10 * minute, -10 * minute]) {
    await using all = await partner();
    const { box, alerts, pass, buy } = all;
    box.sandbox.setFaults({ clockSkewMs });
    await pass(minute);
    await buy();
    await pass(hour);
    await buy();
    await pass(hour);
    assert.equal(alerts.length, 0, `${clockSkewMs}`);
    box.sandbox.setFaults({ endpointDown: true });
    await buy();
    await pass(30 * minute);
    assert.equal(alerts.length, 1, `${clockSkewMs}`);
  }
});

Deno.test("watchdog() raises no alarm where no webhook ever came, and says so at each look", async () => {
  await using all = await partner();
  const { box, alerts, looks, pass, buy } = all;
  box.sandbox.setFaults({ endpointDown: true });
  await pass(minute);
  await buy();
  await pass(hour);
  assert.equal(alerts.length, 0);
  assert.ok(looks.length > 60);
  assert.equal(looks.at(-1)?.state, "never_received");
  assert.equal(looks.at(-1)?.silentOrders, 1);

  box.sandbox.heal();
  await pass(3 * hour);
  assert.equal(looks.at(-1)?.state, "ok");
  box.sandbox.setFaults({ endpointDown: true });
  await buy();
  await pass(30 * minute);
  assert.deepEqual(alerts.map(({ state }) => state), ["suspected"]);
});

Deno.test("watchdog() finds a webhook however many events came after it", async () => {
  const ledger = await openLedger({
    url: ":memory:",
    environment: "sandbox",
    worker: false,
  });
  const receivedAt = "2026-11-20T09:00:00.000Z";
  await ledger.appendDelivery({
    id: "01KA0000000000000000000001",
    receivedAt,
    body: new TextEncoder().encode('{"type":"login","click_id":""}'),
  });
  // Gaps are legal, so that one event can stand for very many.
  await ledger.driver.batch([
    { sql: "UPDATE sqlite_sequence SET seq = 100000", args: [] },
  ], "write");
  await ledger.recordSession({ session_id: "5f0c6a0e", flow_type: "simple" });
  const { health } = await watchdog(ledger.driver, { nowMs: Date.now() });
  assert.equal(health.lastReceivedAt, receivedAt);
  assert.equal(health.state, "ok");
  await ledger.close();
});

Deno.test("watchdog() only looks: it writes nothing by itself", async () => {
  await using all = await partner();
  const { box, ledger, pass } = all;
  await pass(minute);
  const state = async () =>
    (await ledger.driver.batch([{
      sql: "SELECT state FROM sweeps WHERE name = 'watchdog'",
      args: [],
    }], "read"))[0]?.rows[0]?.[0];
  const before = await state();
  await watchdog(ledger.driver, { nowMs: box.clock.now() + hour });
  assert.equal(await state(), before);
});

Deno.test("watchdog() counts down while deliveries are not answered in time", async () => {
  const ledger = await openLedger({ url: ":memory:", environment: "sandbox" });
  const at = (ms: number) => new Date(ms).toISOString();
  const nowMs = Date.now();
  await watchdog(ledger.driver, { nowMs }).then(({ remember }) =>
    ledger.driver.batch(remember, "write")
  );
  const id = "01KA0000000000000000000001";
  await ledger.appendDelivery({
    id,
    receivedAt: at(nowMs),
    body: new TextEncoder().encode('{"type":"login","click_id":""}'),
  });
  await ledger.recordUnanswered({ id, noticedAt: at(nowMs), answer: "late" });
  const { health, raised } = await watchdog(ledger.driver, { nowMs });
  assert.equal(raised, true);
  assert.equal(health.deliverySuspected, false);
  assert.equal(health.failingSince, at(nowMs));
  assert.equal(health.countdown?.offAtFromFirst, at(nowMs + 8 * hour));
  await ledger.close();
});

Deno.test("run() raises an alarm that nobody took once more at the next look", async () => {
  await using all = await partner();
  const { box, alerts, refused, pass, buy } = all;
  await pass(minute);
  await buy();
  box.sandbox.setFaults({ endpointDown: true });
  await buy();
  refused.next = 2;
  await pass(30 * minute);
  assert.equal(refused.errors.length, 2);
  assert.equal(alerts.length, 1);
  assert.ok(alerts[0]?.deliverySuspected);
});

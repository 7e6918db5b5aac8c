import assert from "node:assert/strict";
import { ulid } from "ulid";
import { webhookEndpoint } from "../../webhooks/mod.ts";
import type { Ledger } from "../../ledger/mod.ts";
import { writeWaiting } from "../../ledger/for_server.ts";
import { createPoller } from "../polling/poller.ts";
import {
  countingBytes,
  moving,
  type Service,
  service,
} from "../testing/polling_test_kit.ts";
import { watchdog } from "./watchdog.ts";
import type { DeliveryAlert, DeliveryHealth } from "./watchdog_rule.ts";
import { emptyLedger } from "../../ledger/testing/mod.ts";
import { isThorough } from "../../tests/kit/thorough.ts";

const minute = 60_000;
const hour = 60 * minute;
const secret = "a-secret-that-nobody-guesses";

/** A service whose webhooks reach a ledger, and a poller that runs. */
interface Partner extends AsyncDisposable {
  readonly box: Service;
  readonly ledger: Ledger;
  readonly alerts: DeliveryAlert[];
  readonly looks: DeliveryHealth[];
  /** How many of the next alerts nobody takes, and what came of that. */
  readonly refused: { next: number; errors: unknown[] };
  pass(ms: number): Promise<void>;
  buy(): Promise<void>;
  stop(): Promise<void>;
  start(): void;
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
  const ledger = await emptyLedger({
    now,
  });
  const endpoint = webhookEndpoint({
    append: ledger.appendDelivery,
    secrets: [secret],
    now,
  });
  deliver.to = (request) => endpoint(request);
  const alerts: DeliveryAlert[] = [];
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
      onAlert: (alert) => {
        if (refused.next-- > 0) throw refused;
        alerts.push(alert);
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
  const again = () => {
    stop = new AbortController();
    running = start();
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
    stop: end,
    start: again,
    async restart() {
      await end();
      again();
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
  await buy();
  await pass(30 * minute);
  const [alarm] = alerts;
  assert.equal(alarm?.kind, "suspected");
  const sinceMs = Date.parse(alarm.since);
  assert.ok(Math.abs(sinceMs - diedMs) < 2 * minute);
  assert.ok(
    (alarm.health.countdown?.leftFromFirstMs ?? 0) > 7 * hour,
  );
  assert.equal(box.sandbox.delivery.state, "retrying");
  await restart();
  await pass(hour);
  assert.equal(alerts.length, 1, "one alarm, also across a restart");

  box.sandbox.heal();
  await pass(3 * hour);
  assert.equal(alerts.length, 2);
  assert.equal(alerts[1]?.kind, "recovered");
  assert.equal(alerts[1]?.since, alarm.since);
  assert.equal(alerts[1]?.silentOrders, 2);
  assert.equal(alerts[1]?.silentOrderIds.length, 2);
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
  const skews = isThorough ? [10 * minute, -10 * minute] : [10 * minute];
  for (const clockSkewMs of skews) {
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
  await buy();
  await pass(30 * minute);
  assert.deepEqual(alerts.map(({ kind }) => kind), ["suspected"]);
});

Deno.test("watchdog() knows since when deliveries wait with a process that runs", async () => {
  await using ledger = await emptyLedger();
  const { driver } = ledger;
  const oldestMs = Date.parse("2026-11-20T10:00:00.000Z");
  const writtenMs = oldestMs + 10 * minute;
  await writeWaiting(
    driver,
    { place: "/spool", process: "1" },
    { count: 3, oldestMs },
    writtenMs,
  );
  const waiting = async (nowMs: number) =>
    (await watchdog(driver, { nowMs })).health.waitingSince;
  assert.equal(
    await waiting(writtenMs + minute),
    "2026-11-20T10:00:00.000Z",
  );
  assert.equal(await waiting(writtenMs + hour), null);
});

Deno.test("watchdog() finds a webhook however many events came after it", async () => {
  const ledger = await emptyLedger();
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
      sql: "SELECT value FROM cursors WHERE name = 'watchdog'",
      args: [],
    }], "read"))[0]?.rows[0]?.[0];
  const before = await state();
  await watchdog(ledger.driver, { nowMs: box.clock.now() + hour });
  assert.equal(await state(), before);
});

Deno.test("watchdog() counts down while deliveries are not answered in time", async () => {
  const ledger = await emptyLedger();
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
  await ledger.project();
  const { health, alert } = await watchdog(ledger.driver, { nowMs });
  assert.equal(alert?.kind, "failing");
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
  await buy();
  refused.next = 2;
  await pass(30 * minute);
  assert.equal(refused.errors.length, 2);
  assert.equal(alerts.length, 1);
  assert.equal(alerts[0]?.kind, "suspected");
});

Deno.test("watchdog() is not silenced by forged webhooks, whatever unknown entity they name", async () => {
  await using all = await partner();
  const { box, ledger, alerts, pass, buy } = all;
  await pass(minute);
  await buy();
  await pass(hour);
  assert.equal(alerts.length, 0);
  box.sandbox.setFaults({ endpointDown: true });
  await buy();
  await buy();
  const forged = [
    { type: "login", user: { user_id: "nobody" } },
    { type: "login", click_id: "" },
    { type: "order_complete", order: { id: "invented" } },
  ];
  for (let n = 0; n < 15; n++) {
    await pass(2 * minute);
    await ledger.appendDelivery({
      id: `01KF00000000000000000000${10 + n}`,
      receivedAt: new Date(box.clock.now()).toISOString(),
      body: new TextEncoder().encode(JSON.stringify(forged[n % 3])),
    });
  }
  assert.deepEqual(alerts.map(({ kind }) => kind), ["suspected"]);
  assert.equal(alerts[0]?.silentOrders, 2);
});

/** Posts what somebody forges who knows the endpoint's address. */
function forger({ ledger, box }: Partner) {
  let count = 0;
  return async (type: string, orderId: string): Promise<void> => {
    const at = box.clock.now();
    await ledger.appendDelivery({
      id: ulid(at + count++),
      receivedAt: new Date(at).toISOString(),
      body: new TextEncoder().encode(
        JSON.stringify({ type, click_id: "", order: { id: orderId } }),
      ),
    });
  };
}

/**
 * Lets thirty orders succeed without a webhook, one a minute, beside a forger.
 *
 * @returns Minutes from the first success to the alarm; null without one.
 */
async function minutesToAlarm(
  beside: (all: Partner, minute: number, final: string) => Promise<void>,
): Promise<number | null> {
  await using all = await partner();
  const { box, alerts, pass, buy } = all;
  await pass(minute);
  await buy();
  await pass(hour);
  const final = box.sandbox.orders()[0]?.orderId ?? "";
  box.sandbox.setWebhookUrl(null);
  const beganMs = box.clock.now();
  for (let n = 0; n < 30 && alerts.length === 0; n++) {
    const { orderId } = box.sandbox.createOrder();
    for (const step of ["pay", "authorise", "complete"] as const) {
      box.sandbox.advance(orderId, step);
      await pass(10_000);
    }
    await beside(all, n, final);
    await pass(30_000);
  }
  assert.ok(alerts.every(({ kind }) => kind === "suspected"));
  return alerts.length === 0 ? null : (box.clock.now() - beganMs) / minute;
}

Deno.test("watchdog() suspects as soon beside a forger as without one", async () => {
  const alone = await minutesToAlarm(() => Promise.resolve());
  assert.ok(alone !== null);
  // A webhook a minute about an order that has long been final.
  const repeated = await minutesToAlarm((all, _, final) =>
    forger(all)("order_complete", final)
  );
  // A cheap order of the forger's own every four minutes, and its webhooks.
  const bought = await minutesToAlarm(async (all, n) => {
    if (n % 4 !== 0) return;
    const { sandbox } = all.box;
    const { orderId } = sandbox.createOrder();
    const post = forger(all);
    sandbox.advance(orderId, "pay");
    await post("payment_started", orderId);
    await all.pass(5000);
    sandbox.advance(orderId, "fail");
    await post("order_failed", orderId);
  });
  for (const beside of [repeated, bought]) {
    assert.ok(beside !== null && beside <= alone + 1, `${beside}, ${alone}`);
  }
});

Deno.test("watchdog() suspects nothing while the webhooks that came are not folded", async () => {
  await using ledger = await emptyLedger();
  const { driver } = ledger;
  const startMs = Date.parse("2026-11-20T09:00:00.000Z");
  const look = async (nowMs: number) => {
    const { health, remember } = await watchdog(driver, { nowMs });
    await driver.batch(remember, "write");
    return health;
  };
  await look(startMs);
  for (const id of ["A", "B"]) {
    const at = new Date(startMs + minute).toISOString();
    await driver.batch([{
      sql: "INSERT INTO observed VALUES (?1, 'progress', ?2, ?2)",
      args: [id, at],
    }], "write");
    await ledger.appendDelivery({
      ...{ id: ulid(startMs + minute), receivedAt: at },
      body: new TextEncoder().encode(
        `{"type":"payment_started","order":{"id":"${id}"}}`,
      ),
    });
  }
  const behind = await look(startMs + 20 * minute);
  assert.deepEqual(
    [behind.state, behind.waitingSince],
    ["ok", "2026-11-20T09:01:00.000Z"],
  );
  await ledger.project();
  const { state, waitingSince } = await look(startMs + 21 * minute);
  assert.deepEqual([state, waitingSince], ["ok", null]);
});

Deno.test("watchdog() raises nothing false in a shop of one order a day", async () => {
  let nowMs = Date.UTC(2026, 4, 1);
  await using ledger = await emptyLedger({
    now: () => nowMs,
  });
  const { driver } = ledger;
  const look = async () => {
    await ledger.project();
    const { health, remember } = await watchdog(driver, { nowMs });
    await driver.batch(remember, "write");
    return health;
  };
  const announce = (type: string, id: string) =>
    ledger.appendDelivery({
      id: ulid(nowMs),
      receivedAt: new Date(nowMs).toISOString(),
      body: new TextEncoder().encode(
        JSON.stringify({ type, click_id: "", order: { id } }),
      ),
    });
  await look();
  for (let day = 0; day < 60; day++) {
    nowMs = Date.UTC(2026, 4, 2 + day);
    await look();
    const id = `order-${day}`;
    for (const status of ["progress", "success"]) {
      const at = new Date(nowMs).toISOString();
      await driver.batch([{
        sql: "INSERT INTO observed VALUES (?1, ?2, ?3, ?3)",
        args: [id, status, at],
      }], "write");
      // Polling is quicker than webhooks, and each fortnight one is lost.
      nowMs += 2 * minute;
      const lost = day % 14 === 7 && status === "progress";
      const type = status === "success" ? "order_complete" : "payment_started";
      if (!lost) await announce(type, id);
    }
    for (const afterMs of [minute, 10 * minute, 2 * hour, 9 * hour]) {
      nowMs += afterMs;
      assert.equal((await look()).state, "ok", `day ${day}`);
    }
  }
  // Enough is remembered, over days, to notice three lost ones of thirty.
  const [kept] = await driver.batch([
    { sql: "SELECT count(*) FROM observed", args: [] },
  ], "read");
  assert.equal(kept?.rows[0]?.[0], 60);
});

Deno.test("watchdog() raises nothing false when retries come an hour after an outage of ours", async () => {
  for (const awayMinutes of isThorough ? [3, 40] : [40]) {
    await using all = await partner();
    const { box, alerts, looks, pass, buy, stop, start } = all;
    await pass(minute);
    await buy();
    await pass(hour);
    await stop();
    box.sandbox.setFaults({ endpointDown: true });
    await buy();
    await buy();
    await pass((awayMinutes - 2) * minute);
    box.sandbox.setFaults({ endpointDown: false });
    start();
    await pass(3 * hour);
    assert.equal(box.sandbox.delivery.state, "enabled", `${awayMinutes}`);
    assert.deepEqual(alerts, [], `${awayMinutes}`);
    assert.equal(looks.at(-1)?.silentOrders, 0);
  }
});

Deno.test("watchdog() counts a webhook as life once the service shows what it names", async () => {
  await using all = await partner();
  const { box, ledger, looks, pass, buy } = all;
  await pass(minute);
  await buy();
  await pass(hour);
  const before = looks.at(-1)?.lastReceivedAt;
  box.sandbox.setFaults({ endpointDown: true });
  const { orderId } = box.sandbox.createOrder();
  const receivedAt = new Date(box.clock.now()).toISOString();
  await ledger.appendDelivery({
    id: "01KG0000000000000000000001",
    receivedAt,
    body: new TextEncoder().encode(
      JSON.stringify({ type: "payment_started", order: { id: orderId } }),
    ),
  });
  const { health } = await watchdog(ledger.driver, { nowMs: box.clock.now() });
  assert.equal(health.lastReceivedAt, before, "not shown yet");
  await pass(5 * minute);
  assert.equal(looks.at(-1)?.lastReceivedAt, receivedAt);
});

Deno.test("watchdog() takes no move for news that was seen before our clock was set back", async () => {
  const startMs = Date.UTC(2026, 4, 1);
  await using ledger = await emptyLedger({
    now: () => startMs,
  });
  const { driver } = ledger;
  const look = async (nowMs: number) => {
    const { health, remember } = await watchdog(driver, { nowMs });
    await driver.batch(remember, "write");
    return health;
  };
  const seenAt = new Date(startMs + 6 * hour).toISOString();
  await driver.batch([{
    sql: "INSERT INTO observed VALUES ('order-1', 'cancelled', ?1, ?1)",
    args: [seenAt],
  }], "write");
  await look(startMs);
  await ledger.appendDelivery({
    id: "01J",
    receivedAt: new Date(startMs + minute).toISOString(),
    body: new TextEncoder().encode('{"type":"login","user":{"user_id":"a"}}'),
  });
  await look(startMs + 2 * minute);
  const health = await look(startMs + 7 * hour);
  assert.equal(health.deliverySuspected, false, health.state);
});

import assert from "node:assert/strict";
import { Webhook } from "standardwebhooks";
import { type Driver, writeSweep } from "../../ledger/for_sync.ts";
import { hasShape } from "../../tests/kit/shape.ts";
import { webhookSigner } from "../forwarding/transition_message.ts";
import { AlarmSender } from "./alarm_sender.ts";
import type {
  AlarmCheck,
  ForwardedAlarm,
  StandingAlarm,
} from "./alarm_message.ts";
import type { ConditionCode } from "../../resources/health/conditions.ts";
import { found, type FoundOptions } from "../../resources/health/finding.ts";
import { emptyLedger } from "../../ledger/testing/mod.ts";

const SECRET = `whsec_${btoa("a secret of enough bytes, for tests")}`;
const START = Date.UTC(2026, 10, 22, 10);
const MINUTE = 60_000;

/** An alarm that stands. */
function alarm(code: ConditionCode, more: FoundOptions = {}): StandingAlarm {
  return { ...found(code, more), since: "2026-11-22T09:50:00.000Z" };
}

const SUSPECTED = alarm("delivery_suspected", { facts: { silentOrders: 3 } });

/** A look at one subject. */
function look(alarm: StandingAlarm | null): AlarmCheck {
  return new Map([[alarm?.subject ?? "delivery", alarm]]);
}

interface Received {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly data: ForwardedAlarm;
}

/** A ledger, a clock, and a receiver on loopback that verifies what comes. */
async function world() {
  const ledger = await emptyLedger();
  const received: Received[] = [];
  const here = {
    nowMs: START,
    answer: (): Response | Promise<Response> =>
      new Response(null, { status: 204 }),
  };
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    async (request) => {
      const body = await request.text();
      const headers = Object.fromEntries(request.headers);
      // Its own clock is that of the machine, so the time is checked elsewhere.
      const signed = new Webhook(SECRET).sign(
        headers["webhook-id"] ?? "",
        new Date(Number(headers["webhook-timestamp"]) * 1000),
        body,
      );
      assert.equal(headers["webhook-signature"], signed);
      received.push({ id: headers["webhook-id"], ...JSON.parse(body) });
      return await here.answer();
    },
  );
  const log: string[] = [];
  return {
    here,
    received,
    log,
    /** What came, in short. */
    told: () =>
      received.map(({ type, data }) => `${type.slice(14)} ${data.code}`),
    sender: (driver: Driver = ledger.driver, host = "shop-1") =>
      new AlarmSender({
        target: {
          name: "forward:shop",
          shown: `http://127.0.0.1:${server.addr.port}/hooks`,
          url: new URL(`http://127.0.0.1:${server.addr.port}/hooks?key=hidden`),
          write: webhookSigner([SECRET]),
        },
        driver,
        environment: "sandbox",
        host,
        log: (_, event, fields) =>
          void log.push(`${event} ${JSON.stringify(fields)}`),
        now: () => here.nowMs,
      }),
    driver: ledger.driver,
    [Symbol.asyncDispose]: async () => {
      await server.shutdown();
      await ledger[Symbol.asyncDispose]();
    },
  };
}

Deno.test("AlarmSender.notify() tells once that an alarm is raised, and once that it is over", async () => {
  await using world_ = await world();
  const { here, received, told } = world_;
  const sender = world_.sender();
  await sender.notify(look(null));
  for (let count = 0; count < 3; count++) {
    await sender.notify(look(SUSPECTED));
    here.nowMs += MINUTE;
  }
  for (let count = 0; count < 3; count++) await sender.notify(look(null));
  assert.deepEqual(told(), [
    "raised delivery_suspected",
    "cleared delivery_suspected",
  ]);
  const [raised, cleared] = received;
  for (const { id: _, ...body } of received) {
    hasShape("forwarded-alarm", body);
  }
  assert.equal(raised?.id, raised?.data.key);
  assert.equal(raised?.timestamp, SUSPECTED.since);
  assert.equal(raised?.data.since, SUSPECTED.since);
  assert.deepEqual(raised?.data.facts, { silentOrders: 3 });
  assert.match(raised?.data.advice ?? "", /^Press Test/);
  assert.equal(raised?.data.host, null);
  assert.equal(cleared?.data.clearedAt, "2026-11-22T10:03:00.000Z");
  assert.equal(cleared?.data.since, SUSPECTED.since);
  assert.equal(cleared?.data.advice, null);
  assert.notEqual(cleared?.id, raised?.id);
});

Deno.test("AlarmSender.notify() tries again later, under the same id, and says so once", async () => {
  await using world_ = await world();
  const { here, received, log } = world_;
  const sender = world_.sender();
  here.answer = () => new Response(null, { status: 500 });
  await sender.notify(look(SUSPECTED));
  await sender.notify(look(SUSPECTED));
  assert.equal(received.length, 1, "it pauses after a failure");
  here.nowMs += MINUTE;
  await sender.notify(look(SUSPECTED));
  here.nowMs += MINUTE;
  here.answer = () => new Response(null, { status: 200 });
  await sender.notify(look(SUSPECTED));
  here.nowMs += MINUTE;
  await sender.notify(look(SUSPECTED));
  const ids = received.map(({ id }) => id);
  assert.deepEqual([ids.length, new Set(ids).size], [3, 1]);
  assert.deepEqual(log.map((line) => line.split(" ")[0]), [
    "alarm_not_sent",
    "alarm_sent",
  ]);
  assert.ok(!log.join().includes("hidden"));
});

Deno.test("AlarmSender.notify() waits as long as the target asks for", async () => {
  await using world_ = await world();
  const { here, received } = world_;
  const sender = world_.sender();
  here.answer = () =>
    new Response(null, { status: 503, headers: { "retry-after": "600" } });
  await sender.notify(look(SUSPECTED));
  here.nowMs += 9 * MINUTE;
  await sender.notify(look(SUSPECTED));
  assert.equal(received.length, 1);
  here.nowMs += 2 * MINUTE;
  await sender.notify(look(SUSPECTED));
  assert.equal(received.length, 2);
});

Deno.test("AlarmSender.notify() remembers over a restart what was told, and tells the end of what another process raised", async () => {
  await using world_ = await world();
  const { here, told } = world_;
  await world_.sender().notify(look(SUSPECTED));
  const next = world_.sender();
  await next.notify(look(SUSPECTED));
  assert.deepEqual(told(), ["raised delivery_suspected"]);
  here.nowMs += MINUTE;
  await world_.sender().notify(look(null));
  await next.notify(look(null));
  await world_.sender().notify(look(null));
  assert.deepEqual(told(), [
    "raised delivery_suspected",
    "cleared delivery_suspected",
  ]);
});

Deno.test("AlarmSender.notify() tells although the ledger takes nothing; a restart repeats it once, under the same id", async () => {
  await using world_ = await world();
  const { received } = world_;
  const broken: Driver = {
    ...world_.driver,
    batch: () => Promise.reject(new Error("The disk is full")),
  };
  for (let restarts = 0; restarts < 2; restarts++) {
    const sender = world_.sender(broken);
    await sender.notify(look(SUSPECTED));
    await sender.notify(look(SUSPECTED));
  }
  const ids = received.map(({ id }) => id);
  assert.deepEqual([ids.length, new Set(ids).size], [2, 1]);
});

Deno.test("AlarmSender.notify() does not flood: what comes and goes is told at most once in ten minutes", async () => {
  await using world_ = await world();
  const { here, told } = world_;
  const sender = world_.sender();
  for (let count = 0; count < 60; count++) {
    const since = new Date(here.nowMs).toISOString();
    await sender.notify(look(count % 2 === 0 ? { ...SUSPECTED, since } : null));
    here.nowMs += MINUTE / 2;
  }
  // Half an hour: three times raised, three times over.
  assert.equal(told().length, 6, told().join());
});

Deno.test("AlarmSender.notify() does not flood where one thing and another are wrong in turn", async () => {
  await using world_ = await world();
  const { here, told } = world_;
  const sender = world_.sender();
  const codes = ["delivery_suspected", "delivery_failing"] as const;
  for (let count = 0; count < 60; count++) {
    await sender.notify(
      look({ ...SUSPECTED, code: codes[count % 2] ?? codes[0] }),
    );
    here.nowMs += MINUTE / 2;
  }
  assert.ok(told().length <= 6, told().join());
  assert.ok(told().length >= 2);
});

Deno.test("AlarmSender.notify() tells again when what is wrong has changed", async () => {
  await using world_ = await world();
  const { told } = world_;
  const sender = world_.sender();
  await sender.notify(look(SUSPECTED));
  await sender.notify(look({ ...SUSPECTED, code: "delivery_failing" }));
  await sender.notify(look(null));
  assert.deepEqual(told(), [
    "raised delivery_suspected",
    "raised delivery_failing",
    "cleared delivery_failing",
  ]);
});

Deno.test("AlarmSender.notify() says nothing of an alarm that came and went while the target took nothing", async () => {
  await using world_ = await world();
  const { here, received } = world_;
  const sender = world_.sender();
  here.answer = () => new Response(null, { status: 500 });
  await sender.notify(look(SUSPECTED));
  here.answer = () => new Response(null, { status: 204 });
  here.nowMs += MINUTE;
  await sender.notify(look(null));
  assert.equal(received.length, 1);
});

Deno.test("AlarmSender.notify() names the machine of an alarm that is about one", async () => {
  await using world_ = await world();
  const full = alarm("disk_nearly_full", { facts: { freeBytes: 7 } });
  await world_.sender().notify(look(full));
  assert.equal(world_.received[0]?.data.host, "shop-1");
  assert.ok(world_.received[0]?.id.startsWith("alarm:disk:shop-1:"));
});

Deno.test("AlarmSender.notify() ends the alarm of a machine that is gone, and leaves that of one which still reports it", async () => {
  await using world_ = await world();
  const { here, driver, received, told } = world_;
  const full = alarm("disk_nearly_full");
  const reportOf = (host: string) =>
    writeSweep("health", {
      [`${host} 7`]: { atMs: here.nowMs, found: [full] },
    }, here.nowMs);
  const disk = (alarm: StandingAlarm | null): AlarmCheck =>
    new Map([["disk", alarm]]);
  await driver.batch([reportOf("shop-1")], "write");
  await world_.sender().notify(disk(full));
  const other = world_.sender(driver, "shop-2");
  await other.notify(disk(null));
  here.nowMs += MINUTE;
  await other.notify(disk(null));
  assert.deepEqual(told(), ["raised disk_nearly_full"]);
  here.nowMs += 2 * MINUTE;
  await other.notify(disk(null));
  await other.notify(disk(null));
  assert.deepEqual(told(), [
    "raised disk_nearly_full",
    "cleared disk_nearly_full",
  ]);
  const [raised, cleared] = received;
  assert.equal(cleared?.data.host, "shop-1");
  assert.equal(cleared?.id, raised?.id.replace(/raised$/, "cleared"));
});

import assert from "node:assert/strict";
import { ulid } from "ulid";
import { OnrampClient } from "../../client/mod.ts";
import { createPoller } from "../../sync/mod.ts";
import { openLedger } from "../../ledger/mod.ts";
import { createSandbox, virtualClock } from "../../sandbox/mod.ts";
import {
  minutesAgo,
  ODD_ORDERS,
  oddEvents,
  oddReading,
} from "../../tests/kit/odd_ledger.ts";
import { until } from "../../tests/kit/until.ts";
import { writeWaiting } from "../../ledger/for_server.ts";
import type { Driver } from "../../ledger/for_sync.ts";
import type { Readiness } from "../http/http_app.ts";
import { describeAlarm } from "./alarm_words.ts";
import {
  type AlarmSources,
  checkAlarms,
  LOW_DISK_BYTES,
} from "./check_alarms.ts";
import type { AlarmCode } from "../../resources/health/standing_alarm.ts";
import { DebouncedCheck } from "./debounced_check.ts";

const NOW = Date.UTC(2026, 10, 22, 10);
const SINCE = "2026-11-22T09:00:00.000Z";

const READY: Readiness = {
  writable: true,
  lag: 0,
  spooled: 0,
  problem: null,
  degraded: [],
  polling: null,
};

/** Looks at a ledger that is well, but for what is given. */
async function looked(
  wrong: Partial<AlarmSources> & { readonly ready?: Partial<Readiness> },
) {
  await using ledger = await openLedger({
    url: ":memory:",
    environment: "sandbox",
    worker: false,
  });
  const { ready, ...sources } = wrong;
  return await checkAlarms({
    ledger,
    readiness: () => Promise.resolve({ ...READY, ...ready }),
    foldFailingSince: () => null,
    chainBroken: () => false,
    refusing: () => ({ large: null, allButSmall: null }),
    freeBytes: () => Promise.resolve(LOW_DISK_BYTES),
    polled: () => Promise.resolve(true),
    now: () => NOW,
    ...sources,
  });
}

Deno.test("checkAlarms() sees nothing wrong where nothing is", async () => {
  const look = await looked({});
  assert.deepEqual([...look.keys()], [
    "delivery",
    "polling",
    "backlog",
    "disk",
    "room",
    "evidence",
    "comparison",
  ]);
  assert.ok([...look.values()].every((alarm) => alarm === null));
});

Deno.test("checkAlarms() tells once for all orders that they are released unchecked, until anything is recorded", async () => {
  await using ledger = await openLedger({
    url: ":memory:",
    environment: "sandbox",
    worker: false,
    goLive: minutesAgo(75),
  });
  const seen = async () => {
    await ledger.project();
    return (await looked({ ledger })).get("comparison");
  };
  await ledger.append([oddReading(ODD_ORDERS.refund, "success", 20)]);
  assert.equal(await seen(), null, "others released it");
  await ledger.append([
    oddReading(ODD_ORDERS.success, "success", 10),
    oddReading(ODD_ORDERS.mismatch, "success", 5),
  ]);
  const alarm = await seen();
  assert.equal(alarm?.code, "released_unchecked");
  assert.equal(alarm?.since, minutesAgo(70));
  const [recorded] = oddEvents();
  assert.ok(recorded !== undefined);
  await ledger.append([recorded]);
  assert.equal(await seen(), null);
});

Deno.test("checkAlarms() says nothing of delivery while nobody polls", async () => {
  const look = await looked({ polled: () => Promise.resolve(false) });
  assert.equal(look.get("delivery"), undefined);
  assert.equal(look.get("polling"), null);
});

Deno.test("checkAlarms() sees what is wrong in each area, since when, and what to do", async () => {
  const failure = { sweep: "new", attempts: 3, since: SINCE, status: 401 };
  const cases: readonly [
    Parameters<typeof looked>[0],
    AlarmCode,
    string,
    RegExp,
  ][] = [
    [
      {
        ready: {
          polling: {
            ...{ ...failure, sweep: "new" as const, nextAttemptAt: null },
            cause: "wrong_key",
          },
        },
      },
      "poll_failing",
      SINCE,
      /RAMPKIT_API_KEY/,
    ],
    [
      {
        ready: {
          polling: {
            ...{ ...failure, sweep: "poller" as const, nextAttemptAt: null },
            cause: "stalled",
          },
        },
      },
      "poll_stalled",
      SINCE,
      /restart `serve`/,
    ],
    [
      { foldFailingSince: () => SINCE },
      "events_not_folded",
      SINCE,
      /projection_failing/,
    ],
    [
      { ready: { problem: "ENOSPC", writable: false } },
      "deliveries_refused",
      "2026-11-22T10:00:00.000Z",
      /Make room/,
    ],
    [
      { ready: { writable: false, spooled: 7 } },
      "ledger_refuses",
      "2026-11-22T10:00:00.000Z",
      /Make room/,
    ],
    [
      { freeBytes: () => Promise.resolve(LOW_DISK_BYTES - 1) },
      "disk_nearly_full",
      "2026-11-22T10:00:00.000Z",
      /Make room/,
    ],
    [
      { refusing: () => ({ large: SINCE, allButSmall: null }) },
      "large_bodies_refused",
      SINCE,
      /change the secret/,
    ],
    [
      { refusing: () => ({ large: SINCE, allButSmall: SINCE }) },
      "spool_nearly_full",
      SINCE,
      /rampkit doctor/,
    ],
    [
      { chainBroken: () => true },
      "chain_broken",
      "2026-11-22T10:00:00.000Z",
      /ledger verify/,
    ],
  ];
  for (const [wrong, code, since, advice] of cases) {
    const found = [...(await looked(wrong)).values()].filter((one) =>
      one !== null
    );
    assert.deepEqual(
      found.map((one) => [one.code, one.since]),
      [[code, since]],
      code,
    );
    for (const one of found) assert.match(describeAlarm(one).advice, advice);
  }
});

Deno.test("checkAlarms() sees that answered deliveries wait for minutes to go into the ledger", async () => {
  await using ledger = await openLedger({
    url: ":memory:",
    environment: "sandbox",
    worker: false,
  });
  const waitingFor = async (ms: number) => {
    const waiting = { count: 5, oldestMs: NOW - ms };
    const mover = { place: "/spool", process: "1" };
    await writeWaiting(ledger.driver, mover, waiting, NOW);
    return (await looked({ ledger })).get("backlog");
  };
  assert.equal(await waitingFor(59_000), null);
  assert.deepEqual(await waitingFor(120_000), {
    area: "backlog",
    code: "deliveries_waiting",
    since: "2026-11-22T09:58:00.000Z",
    facts: { waiting: 5 },
  });
});

/** A sandbox on a virtual clock whose webhooks go into a ledger. */
async function partner() {
  const clock = virtualClock(NOW);
  const resources = new AsyncDisposableStack();
  const ledger = resources.use(
    await openLedger({
      url: ":memory:",
      environment: "sandbox",
      worker: false,
      now: () => clock.now(),
    }),
  );
  let deliveries = 0;
  const sandbox = resources.use(createSandbox({
    clock,
    webhookUrl: "http://partner/webhooks/secret",
    fetch: async (input, init) => {
      deliveries++;
      await ledger.appendDelivery({
        id: ulid(clock.now()),
        receivedAt: new Date(clock.now()).toISOString(),
        body: new Uint8Array(await new Request(input, init).arrayBuffer()),
      });
      return new Response(null, { status: 204 });
    },
  }));
  const poller = createPoller({
    ledger,
    now: () => clock.now(),
    requestsPerSecond: 1000,
    watchEveryMs: 10 * 60_000,
    client: new OnrampClient({
      environment: "sandbox",
      apiKey: sandbox.apiKey,
      requestsPerSecond: 1000,
      fetch: (input, init) => sandbox.fetch(new Request(input, init)),
    }),
  });
  return {
    clock,
    ledger,
    sandbox,
    poll: () => poller.once(),
    /** Lets an order be paid, and waits for its webhook unless it is lost. */
    buy: async () => {
      const expected = deliveries + (sandbox.faults.drop === 0 ? 1 : 0);
      const { orderId } = sandbox.createOrder();
      sandbox.advance(orderId, "pay");
      await clock.advance(1000);
      await until(() => deliveries === expected);
      await ledger.project();
      return orderId;
    },
    look: (ledger_ = ledger) =>
      looked({ ledger: ledger_, now: () => clock.now() }),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

Deno.test("checkAlarms() suspects that webhooks are off once orders move and none comes", async () => {
  await using here = await partner();
  await here.buy();
  await here.poll();
  assert.equal((await here.look()).get("delivery"), null);
  here.sandbox.setFaults({ drop: 1 });
  await here.clock.advance(10 * 60_000);
  await here.buy();
  await here.buy();
  await here.poll();
  await here.clock.advance(10 * 60_000);
  await here.poll();
  const alarm = (await here.look()).get("delivery");
  assert.equal(alarm?.code, "delivery_suspected");
  assert.equal(alarm?.facts.silentOrders, 2);
  assert.match(String(alarm?.facts.offAtFromFirst), /Z$/);
  assert.ok(alarm !== null && alarm !== undefined);
  assert.match(describeAlarm(alarm).advice, /press Test/);
});

Deno.test("checkAlarms() takes a stalled poller for no alarm while another process polls", async () => {
  await using here = await partner();
  const polling: Readiness["polling"] = {
    ...{ sweep: "poller", attempts: 1, nextAttemptAt: null },
    ...{ since: SINCE, cause: "stalled", status: null },
  };
  const look = async () =>
    (await looked({
      ledger: here.ledger,
      now: () => here.clock.now(),
      ready: { polling },
    })).get("polling");
  assert.equal((await look())?.code, "poll_stalled");
  await here.poll();
  assert.equal(await look(), null);
  await here.clock.advance(5 * 60_000);
  assert.equal((await look())?.code, "poll_stalled");
});

Deno.test("checkAlarms() sees that nobody asks about what webhooks named", async () => {
  await using here = await partner();
  const orderId = await here.buy();
  await here.poll();
  here.sandbox.trigger({ type: "payment_started", orderId });
  await here.clock.advance(60_000);
  await until(async () => (await here.ledger.stats()).events.webhook === 2);
  await here.ledger.project();
  assert.equal((await here.look()).get("backlog"), null);
  await here.clock.advance(20 * 60_000);
  const alarm = (await here.look()).get("backlog");
  assert.equal(alarm?.code, "confirmations_waiting");
});

Deno.test("checkAlarms() leaves out what cannot be looked at", async () => {
  const failing = { batch: () => Promise.reject(new Error("No database")) };
  const look = await looked({
    ledger: { driver: failing as unknown as Driver },
    readiness: () => Promise.reject(new Error("No ledger")),
    chainBroken: () => null,
    freeBytes: () => Promise.reject(new Error("No disk")),
  });
  // What is refused is known without a ledger.
  assert.deepEqual([...look.keys()], ["room"]);
});

Deno.test("DebouncedCheck.take() believes what two looks in a row agree on, and keeps the beginning", () => {
  const debounced = new DebouncedCheck();
  const alarm = (since: string) =>
    new Map([["disk" as const, {
      area: "disk" as const,
      code: "disk_nearly_full" as const,
      since,
      facts: {},
    }]]);
  const well = new Map([["disk" as const, null]]);
  assert.equal(debounced.take(alarm("2026-01-01")).get("disk"), undefined);
  assert.equal(debounced.take(well).get("disk"), undefined);
  assert.equal(debounced.take(alarm("2026-01-03")).get("disk"), undefined);
  assert.equal(
    debounced.take(alarm("2026-01-04")).get("disk")?.since,
    "2026-01-03",
  );
  // An area that could not be looked at stays as it is.
  assert.equal(debounced.take(new Map()).get("disk")?.since, "2026-01-03");
  assert.equal(debounced.take(well).get("disk")?.since, "2026-01-03");
  assert.equal(debounced.take(well).get("disk"), null);
});

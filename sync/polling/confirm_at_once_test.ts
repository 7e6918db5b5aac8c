import assert from "node:assert/strict";
import { ledgerOn } from "../../ledger/for_server.ts";
import { type Ledger, openDriver } from "../../ledger/mod.ts";
import type { Driver } from "../../ledger/for_sync.ts";
import {
  bench,
  deliver,
  drain,
  moving,
  pollerFor,
  queue,
  rows,
  type Service,
  service,
  startMs,
  storeOnly,
} from "../testing/polling_test_kit.ts";
import type { PollerOptions } from "./poller.ts";
import { nextBatch, RequestTurns, setAside, sweepConfirm } from "./sweeps.ts";

/** A poller that looks by itself once an hour only: the rest is being woken. */
interface Woken extends AsyncDisposable {
  readonly ledger: Ledger;
  /** Takes a webhook in and folds it, as `serve` does. */
  readonly hear: (type: string, orderId: string) => Promise<void>;
  /** Lets time pass. */
  readonly pass: (ms: number) => Promise<void>;
  /** How often the service was asked for an order by its id. */
  readonly asked: (orderId: string) => number;
  /** Status and trust, as folded by now. */
  readonly state: (orderId: string) => Promise<string>;
}

async function woken(
  box: Service,
  changes: Partial<PollerOptions> = {},
): Promise<Woken> {
  // Nothing here waits for the real world, or virtual time would run ahead.
  const driver = await openDriver({ url: ":memory:", worker: false });
  const ledger = await ledgerOn(driver, {
    environment: "sandbox",
    now: () => box.clock.now(),
  });
  const stop = new AbortController();
  const hourMs = 3_600_000;
  const poller = pollerFor(box, ledger, {
    confirmEveryMs: hourMs,
    followEveryMs: hourMs,
    openEveryMs: hourMs,
    watchEveryMs: hourMs,
    leaseMs: 3 * hourMs,
    ...changes,
  });
  const running = poller.run(stop.signal);
  const pass = (ms: number) => moving(box.clock.sleep(ms), box.clock);
  await pass(5000);
  return {
    ledger,
    pass,
    hear: async (type, orderId) => {
      await deliver(box, ledger, type, orderId);
      await ledger.project();
    },
    asked: (orderId) =>
      box.asked.filter((url) =>
        url.searchParams.get("search_by")?.includes(orderId)
      ).length,
    state: async (orderId) => {
      const order = await ledger.orders.get(orderId);
      return `${order?.status} ${order?.trust}`;
    },
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await moving(running, box.clock);
      await ledger.close();
    },
  };
}

Deno.test("run() confirms at once what a webhook is the first to claim, though it has just been read", async () => {
  await using box = service();
  const { orderId } = box.sandbox.createOrder();
  await using shop = await woken(box);
  box.sandbox.advance(orderId, "pay");
  await shop.hear("payment_started", orderId);
  await shop.pass(50);
  assert.equal(await shop.state(orderId), "progress confirmed");
  await shop.pass(2000);
  // Named again, it waits for its rest to be over.
  await shop.hear("payment_started", orderId);
  await shop.pass(50);
  assert.equal(shop.asked(orderId), 1);
  for (const step of ["authorise", "complete"] as const) {
    box.sandbox.advance(orderId, step);
  }
  await shop.hear("order_complete", orderId);
  await shop.pass(50);
  assert.equal(await shop.state(orderId), "success confirmed");
  assert.equal(shop.asked(orderId), 2);
});

Deno.test("run() asks once for a claim that the service does not bear out, and then lets the order rest", async () => {
  await using box = service();
  const { orderId } = box.sandbox.createOrder();
  await using shop = await woken(box);
  await shop.hear("payment_started", orderId);
  await shop.pass(50);
  assert.equal(shop.asked(orderId), 1);
  for (let again = 0; again < 8; again++) {
    await shop.hear("order_complete", orderId);
    await shop.pass(500);
  }
  assert.equal(shop.asked(orderId), 2, "once for each status");
  await shop.pass(30_000);
  await shop.hear("order_complete", orderId);
  await shop.pass(50);
  assert.equal(shop.asked(orderId), 3, "the rest is over");
});

Deno.test("run() asks again at once for a status that is claimed while the order is asked for", async () => {
  let during: (() => Promise<void>) | null = null;
  await using box = service({}, (url) => {
    if (!url.searchParams.has("search_by")) return;
    void during?.();
    during = null;
  });
  const { orderId } = box.sandbox.createOrder();
  await using shop = await woken(box);
  during = () => shop.hear("transfer_started", orderId);
  await shop.hear("payment_started", orderId);
  await shop.pass(200);
  assert.equal(shop.asked(orderId), 2);
});

Deno.test("run() does not ask at once while the confirm sweep has just failed", async () => {
  await using box = service();
  const { orderId } = box.sandbox.createOrder();
  let failures = 0;
  await using shop = await woken(box, { onError: () => void failures++ });
  box.refuse = () => new Response("{}", { status: 503 });
  await shop.hear("payment_started", orderId);
  for (let passes = 0; failures === 0; passes++) {
    assert.ok(passes < 1000, "no sweep has failed");
    await shop.pass(100);
  }
  box.refuse = () => null;
  const before = shop.asked(orderId);
  await shop.hear("order_complete", orderId);
  await shop.pass(400);
  assert.equal(shop.asked(orderId), before);
  await shop.pass(2000);
  assert.equal(shop.asked(orderId), before + 1);
});

Deno.test("run() looks once a second where nobody says that webhooks were folded", async () => {
  await using box = service();
  const { orderId } = box.sandbox.createOrder();
  const driver = await openDriver({ url: ":memory:", worker: false });
  const ledger = await ledgerOn(driver, {
    environment: "sandbox",
    now: () => box.clock.now(),
  });
  const stop = new AbortController();
  const { project } = ledger;
  const other = { driver, project: project.bind(ledger) } as Ledger;
  const running = pollerFor(box, other).run(stop.signal);
  const pass = (ms: number) => moving(box.clock.sleep(ms), box.clock);
  await pass(5000);
  box.sandbox.advance(orderId, "pay");
  await deliver(box, ledger, "payment_started", orderId);
  await pass(2100);
  const order = await ledger.orders.get(orderId);
  assert.equal(`${order?.status} ${order?.trust}`, "progress confirmed");
  stop.abort();
  await moving(running, box.clock);
  await ledger.close();
});

/** Queues some ids, a few seconds before the test begins. */
async function name(
  driver: Driver,
  prefix: string,
  count: number,
  { known = true, urgency = 0 as const, entity = "order" as const } = {} as {
    known?: boolean;
    urgency?: 0 | 1 | 2;
    entity?: "order" | "user";
  },
): Promise<void> {
  const named = Array.from({ length: count }, (_, n) => ({
    entity,
    id: `${prefix}${String(n).padStart(20, "0")}`,
    namedAtMs: startMs - 5000,
    known,
    urgency,
    claimedBy: urgency,
  }));
  await queue(driver, named);
}

async function batchOf(driver: Driver, turns = new RequestTurns()) {
  await using box = service();
  const { context } = await bench(box, driver);
  const batch = await nextBatch(context, {
    queue: "named",
    untilMs: startMs,
    turns,
  });
  batch?.spend(1);
  return (batch?.waiting ?? []).map(({ entityId }) => entityId[0]).join("");
}

Deno.test("nextBatch() takes final claims first, then others, and leaves half the places to what is not urgent", async () => {
  const driver = await storeOnly();
  await name(driver, "N", 30);
  await name(driver, "C", 30, { urgency: 1 });
  await name(driver, "F", 6, { urgency: 2 });
  assert.equal(
    await batchOf(driver),
    "F".repeat(6) + "C".repeat(4) + "N".repeat(10),
  );
  await driver.close();
});

Deno.test("nextBatch() gives users one request in four while orders wait", async () => {
  const driver = await storeOnly();
  await name(driver, "O", 30);
  await name(driver, "U", 30, { entity: "user", urgency: 2 });
  const turns = new RequestTurns();
  let order = "";
  for (let i = 0; i < 8; i++) order += (await batchOf(driver, turns))[0];
  assert.equal(order, "OOOUOOOU");
  await driver.close();
});

Deno.test("nextBatch() draws unknown ids that claim a final status before all others", async () => {
  const driver = await storeOnly();
  await name(driver, "I", 2000, { known: false, urgency: 1 });
  await name(driver, "F", 3, { known: false, urgency: 2 });
  const drawn = await batchOf(driver);
  assert.ok(drawn.startsWith("FFFI"), drawn);
  await driver.close();
});

Deno.test("a webhook lets an id rest that the service refuses, whatever is claimed of it", async () => {
  await using box = service();
  const driver = await storeOnly();
  await name(driver, "R", 1);
  const id = `R${"0".repeat(20)}`;
  const refused = setAside(
    { now: () => startMs },
    "order",
    id,
    "It answered 403",
    4,
  );
  await driver.batch(refused, "write");
  await name(driver, "R", 1, { urgency: 2 });
  const { context } = await bench(box, driver);
  assert.equal(await drain(sweepConfirm(context), box.clock), 0);
  assert.deepEqual(
    (await rows(
      driver,
      "SELECT urgency FROM orders WHERE named_at IS NOT NULL",
    ))[0]?.[0],
    0,
  );
  await driver.close();
});

Deno.test("nextBatch() gives unknown ids the places that known ones leave free, until they cost a request", async () => {
  const driver = await storeOnly();
  await name(driver, "K", 5);
  await name(driver, "I", 100, { known: false });
  const turns = new RequestTurns();
  assert.equal(await batchOf(driver, turns), "K".repeat(5) + "I".repeat(15));
  turns.unknown.spend(true, 1);
  assert.equal(await batchOf(driver, turns), "K".repeat(5));
  await driver.close();
});

Deno.test("run() confirms 20 orders a second at the default rate, half of them within 600 ms", async () => {
  const saidMs = new Map<string, number>();
  const tookMs: number[] = [];
  await using box = service();
  const { clock, sandbox } = box;
  const driver = await openDriver({ url: ":memory:", worker: false });
  const ledger = await ledgerOn(driver, {
    environment: "sandbox",
    now: () => clock.now(),
  });
  const stop = new AbortController();
  const running = pollerFor(box, ledger, { requestsPerSecond: 4 })
    .run(stop.signal);
  let seq = 0;
  using _told = ledger.onProjected(async () => {
    const nowMs = clock.now();
    for (const one of await ledger.transitions({ after: seq, limit: 1000 })) {
      seq = Math.max(seq, one.seq);
      const atMs = saidMs.get(one.id);
      if (atMs === undefined || one.entity !== "order") continue;
      if (one.trust !== "confirmed" || one.status !== "success") continue;
      tookMs.push(nowMs - atMs);
      saidMs.delete(one.id);
    }
  });
  const hear = async (type: string, orderId: string) => {
    await deliver(box, ledger, type, orderId);
    // The pause of the fold, so that a burst is folded in one step.
    clock.setTimer(20, () => void ledger.project());
  };
  const live = async () => {
    const { orderId } = sandbox.createOrder();
    sandbox.advance(orderId, "pay");
    await hear("payment_started", orderId);
    await clock.sleep(1000);
    sandbox.advance(orderId, "authorise");
    await hear("transfer_started", orderId);
    await clock.sleep(1000);
    sandbox.advance(orderId, "complete");
    saidMs.set(orderId, clock.now());
    await hear("order_complete", orderId);
  };
  const count = 120;
  const all = async () => {
    await clock.sleep(5000);
    const lives: Promise<void>[] = [];
    for (let i = 0; i < count; i++) {
      lives.push(live());
      await clock.sleep(50);
    }
    await Promise.all(lives);
    await clock.sleep(5000);
  };
  await moving(all(), clock);
  stop.abort();
  await moving(running, clock);
  await ledger.close();
  assert.equal(tookMs.length, count);
  const sorted = tookMs.toSorted((a, b) => a - b);
  assert.ok((sorted[count / 2] ?? Infinity) < 600, `${sorted}`);
  assert.ok((sorted[count - 2] ?? Infinity) < 2000, `${sorted}`);
});

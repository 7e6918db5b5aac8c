import assert from "node:assert/strict";
import { OnrampClient } from "../../client/mod.ts";
import { ledgerOn } from "../../ledger/for_server.ts";
import { openDriver } from "../../ledger/mod.ts";
import { moving, pollerFor, service } from "../testing/polling_test_kit.ts";

/** How long one request takes, ms. */
const ROUND_TRIP_MS = 15;
const REQUESTS_PER_SECOND = 4;

Deno.test("run() confirms order after order within 100 ms, though all other sweeps go on", async () => {
  const saidMs = new Map<string, number>();
  const tookMs: number[] = [];
  await using box = service();
  const { clock, sandbox } = box;
  const driver = await openDriver({ url: ":memory:", worker: false });
  const ledger = await ledgerOn(driver, {
    environment: "sandbox",
    now: () => clock.now(),
  });
  const client = new OnrampClient({
    environment: "sandbox",
    apiKey: sandbox.apiKey,
    fetch: async (input, init) => {
      await clock.sleep(ROUND_TRIP_MS);
      return await sandbox.fetch(new Request(input, init));
    },
    now: () => clock.now(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
    random: () => 0.5,
    requestsPerSecond: 1_000_000,
    timeoutMs: 3_600_000,
    deadlineMs: 24 * 3_600_000,
  });
  const stop = new AbortController();
  const running = pollerFor(box, ledger, {
    client,
    requestsPerSecond: REQUESTS_PER_SECOND,
  }).run(stop.signal);
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
  let heard = 0;
  const hear = async (
    type: string,
    { orderId, userId }: ReturnType<typeof sandbox.createOrder>,
  ) => {
    await ledger.appendDelivery({
      id: `01KB${String(++heard).padStart(22, "0")}`,
      receivedAt: new Date(clock.now()).toISOString(),
      body: new TextEncoder().encode(JSON.stringify({
        type,
        click_id: "",
        order: { id: orderId },
        user: { user_id: userId },
      })),
    });
    clock.setTimer(20, () => void ledger.project());
  };
  const orders = 40;
  const all = async () => {
    await clock.sleep(2500);
    for (let i = 0; i < orders; i++) {
      const order = sandbox.createOrder();
      sandbox.advance(order.orderId, "pay");
      await hear("payment_started", order);
      sandbox.advance(order.orderId, "authorise");
      await clock.sleep(300);
      await hear("transfer_started", order);
      await clock.sleep(300);
      sandbox.advance(order.orderId, "complete");
      saidMs.set(order.orderId, clock.now());
      await hear("order_complete", order);
      await clock.sleep(800 + (i * 137) % 500);
    }
    await clock.sleep(5000);
  };
  await moving(all(), clock);
  stop.abort();
  await moving(running, clock);
  await ledger.close();
  assert.equal(tookMs.length, orders);
  const sorted = tookMs.toSorted((a, b) => a - b);
  assert.ok((sorted.at(-1) ?? Infinity) < 100, `${sorted}`);
});

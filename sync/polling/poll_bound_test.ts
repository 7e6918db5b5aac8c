import assert from "node:assert/strict";
import { readFreshness } from "./freshness.ts";
import {
  ledgerFor,
  moving,
  pollerFor,
  service,
} from "../testing/polling_test_kit.ts";
import { readPollBound } from "./poll_status.ts";

Deno.test("run() records its own rate and what it counts, and freshness goes by them", async () => {
  await using box = service();
  const { orderId } = box.sandbox.createOrder();
  const { clock } = box;
  const now = () => clock.now();
  await using ledger = await ledgerFor(box);
  const fresh = () => readFreshness(ledger.driver, "order", orderId, now());
  const poller = pollerFor(box, ledger, {
    requestsPerSecond: 0.5,
    followEveryMs: 60_000,
    confirmEveryMs: 60_000,
    openEveryMs: 60_000,
    watchEveryMs: 30_000,
  });
  assert.equal((await fresh()).unboundedReason, "never_observed");
  const stop = new AbortController();
  const running = poller.run(stop.signal);
  await moving(clock.sleep(300_000), clock);
  const first = await readPollBound(ledger.driver);
  assert.equal(first?.requestsPerSecond, 0.5);
  assert.equal(first.counts.orders, 0, "it counts when it begins");
  await moving(clock.sleep(400_000), clock);
  const second = await readPollBound(ledger.driver);
  assert.equal(second?.counts.orders, 1, "and again after ten minutes");
  assert.deepEqual(second.staleness, (await poller.status()).staleness);
  const { tier, maxAgeMs, unboundedReason } = await fresh();
  assert.deepEqual([tier, unboundedReason], ["open", null]);
  assert.ok(maxAgeMs !== null);
  assert.ok(maxAgeMs > second.staleness.recentlyFinalMs);
  box.refuse = () => Response.json({ message: "No" }, { status: 401 });
  await moving(clock.sleep(180_000), clock);
  assert.equal((await fresh()).unboundedReason, "polling_fails");
  stop.abort();
  await moving(running, clock);
  assert.equal((await fresh()).unboundedReason, "not_polled");
});

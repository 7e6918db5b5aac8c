import assert from "node:assert/strict";
import { readFreshness } from "./poll_status.ts";
import {
  ledgerFor,
  moving,
  pollerFor,
  service,
} from "../testing/polling_test_kit.ts";

Deno.test("a poller tells how late it is, and freshness whether an answer may be old", async () => {
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
  const lag = async () => (await poller.status()).lag;
  assert.equal((await fresh()).doubt, "never_observed");
  const stop = new AbortController();
  const running = poller.run(stop.signal);
  await moving(clock.sleep(300_000), clock);
  const { tier, doubt, nextAt } = await fresh();
  assert.deepEqual([tier, doubt], ["open", null]);
  assert.equal(
    (await lag()).openMs,
    Math.max(0, now() - Date.parse(nextAt ?? "")),
  );
  box.refuse = () => Response.json({ message: "No" }, { status: 401 });
  await moving(clock.sleep(180_000), clock);
  assert.equal((await fresh()).doubt, "polling_fails");
  const late = await lag();
  assert.ok(late.openMs > 0, "it was due meanwhile");
  await moving(clock.sleep(60_000), clock);
  assert.equal((await lag()).openMs, late.openMs + 60_000);
  box.refuse = () => null;
  await moving(clock.sleep(3_600_000), clock);
  assert.equal((await fresh()).doubt, null);
  const { allAskedSince } = await lag();
  const { requestedAt } = await fresh();
  assert.ok(allAskedSince !== null && requestedAt !== null);
  assert.ok(allAskedSince <= requestedAt);
  stop.abort();
  await moving(running, clock);
  assert.equal((await fresh()).doubt, "not_polled");
});

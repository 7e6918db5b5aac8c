import assert from "node:assert/strict";
import { writeSweep } from "../../ledger/for_sync.ts";
import {
  at,
  orderRead,
  orderWebhook,
} from "../../ledger/testing/projection_test_kit.ts";
import type { SweepFailure } from "../../sync/polling/poll_health.ts";
import { lookAtPolling } from "./stored_health.ts";
import { emptyLedger } from "../../ledger/testing/mod.ts";

const STUCK: SweepFailure = {
  sweep: "poller",
  attempts: 1,
  since: at(10),
  lastAt: at(13),
  nextAttemptAt: null,
  cause: "stalled",
  status: null,
  message: "The poller has made no progress for 3 minutes",
};

async function memory() {
  return await emptyLedger();
}

Deno.test("lookAtPolling() finds that the service was read where the ledger has a reading, also after a poller that was killed", async () => {
  await using ledger = await memory();
  const look = async () =>
    (await lookAtPolling(ledger.driver, Date.parse(at(60))))[0];
  const webhook = { type: "order_complete", orderId: "O1" };
  await ledger.append([orderWebhook("W1", 1, webhook)]);
  assert.equal((await look())?.code, "polling_not_begun");
  await ledger.append([orderRead(30, { orderId: "O1", status: "success" })]);
  const found = await look();
  assert.equal(found?.code, "polling_works");
  assert.match(found?.detail ?? "", /the last answer was 30 min ago$/);
});

Deno.test("lookAtPolling() takes a stuck poller for no problem while another process polls", async () => {
  await using ledger = await memory();
  const look = async () =>
    (await lookAtPolling(ledger.driver, Date.parse(at(20)), STUCK))[0];
  assert.equal((await look())?.code, "poll_stalled");
  assert.equal((await look())?.since, STUCK.since);
  await ledger.append([orderRead(16, { orderId: "O1", status: "success" })]);
  assert.equal((await look())?.code, "poll_stalled", "longer ago");
  await ledger.append([orderRead(18, { orderId: "O1", status: "progress" })]);
  assert.equal((await look())?.code, "polling_works");
});

Deno.test("lookAtPolling() advises by the cause of what fails", async () => {
  await using ledger = await memory();
  const failure = {
    ...STUCK,
    ...{ sweep: "new", attempts: 3, cause: "wrong_key", status: 401 },
    nextAttemptAt: at(21),
  };
  const health = { failures: [failure], workedAt: null };
  await ledger.driver.batch([writeSweep("poll_health", health, 0)], "write");
  const [found] = await lookAtPolling(ledger.driver, Date.parse(at(20)));
  assert.equal(found?.code, "poll_failing");
  assert.equal(found?.since, STUCK.since);
  assert.match(found?.next ?? "", /RAMPKIT_API_KEY/);
  assert.deepEqual(found?.facts, {
    ...{ sweep: "new", attempts: 3, cause: "wrong_key", status: 401 },
  });
});

import assert from "node:assert/strict";
import { watchdog } from "../../sync/mod.ts";
import { deliveryHealth } from "../../sync/watchdog/watchdog_rule.ts";
import { deliveryFinding, lookAtDelivery } from "./stored_health.ts";
import { emptyLedger } from "../../ledger/testing/mod.ts";

const START = Date.parse("2026-11-20T09:00:00.000Z");
const HOUR = 3_600_000;

/** A ledger that the watchdog has watched for an hour. */
async function watchedLedger() {
  const ledger = await emptyLedger();
  for (const nowMs of [START, START + HOUR]) {
    const { remember } = await watchdog(ledger.driver, {
      nowMs,
      everyMs: HOUR,
    });
    await ledger.driver.batch(remember, "write");
  }
  return ledger;
}

const changes = (...statuses: readonly string[]) => [{
  sql: `INSERT INTO observed (order_id, status, moved_at, seen_at)
    SELECT '01ORDER', value, ?2, ?2 FROM json_each(?1)`,
  args: [JSON.stringify(statuses), new Date(START + 60_000).toISOString()],
}];

Deno.test("lookAtDelivery() warns where orders move and no webhook ever came", async () => {
  await using ledger = await watchedLedger();
  const look = async () => (await lookAtDelivery(ledger, START + HOUR))[0];
  assert.equal((await look())?.code, "delivery_unused");
  await ledger.driver.batch(changes("progress"), "write");
  const found = await look();
  assert.equal(found?.code, "delivery_never_worked");
  assert.match(found?.next ?? "", /dashboard/);
});

Deno.test("lookAtDelivery() finds both countdowns while delivery is suspected to be off", async () => {
  await using ledger = await watchedLedger();
  await ledger.appendDelivery({
    id: "01KA0000000000000000000001",
    receivedAt: new Date(START).toISOString(),
    body: new TextEncoder().encode('{"type":"login","user_id":"01USER"}'),
  });
  await ledger.project();
  await ledger.driver.batch(changes("progress", "success"), "write");
  const [found] = await lookAtDelivery(ledger, START + HOUR + 60_000);
  assert.equal(found?.code, "delivery_suspected");
  assert.equal(found?.since, "2026-11-20T09:01:00.000Z");
  assert.match(found?.detail ?? "", /17:01:00.000Z \(7 h 00 min left\)/);
  assert.match(found?.detail ?? "", /00:06:00.000Z \(14 h 05 min left\)/);
  assert.match(found?.next ?? "", /^Press Test .* first/);
  assert.match(found?.next ?? "", /recover --from 2026-11-20T09:01:00.000Z$/);
  assert.deepEqual(found?.facts, {
    silentOrders: 1,
    offAtFromFirst: "2026-11-20T17:01:00.000Z",
    offAtFromPrevious: "2026-11-21T00:06:00.000Z",
  });
});

Deno.test("deliveryFinding() does not say that no webhook comes while they come again", () => {
  const movedAt = new Date(START).toISOString();
  const change = (orderId: string, announced: boolean) => ({
    ...{ orderId, status: "success", movedAt, seenAt: movedAt, announced },
  });
  const finding = deliveryFinding(deliveryHealth({
    changes: [change("A", false), change("B", false)].concat({
      ...change("C", true),
      movedAt: new Date(START + 60_000).toISOString(),
    }),
    lastReceivedAt: movedAt,
    failingSince: null,
    waitingSince: null,
    watchedSince: new Date(START - HOUR).toISOString(),
    nowMs: START + HOUR,
  }));
  assert.equal(finding.code, "delivery_suspected");
  assert.match(finding.detail, /^Webhooks come again, .*clears after 4 more/);
  assert.doesNotMatch(finding.detail, /no webhook comes any more|left/);
  assert.doesNotMatch(finding.next ?? "", /Press Test/);
});

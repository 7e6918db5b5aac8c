import assert from "node:assert/strict";
import { writeSweep } from "../../ledger/for_sync.ts";
import {
  minutesAgo,
  ODD_ORDERS,
  oddEvents,
  oddReading,
} from "../../tests/kit/odd_ledger.ts";
import {
  lookAtBacklog,
  lookAtComparison,
  lookAtDrift,
  lookAtOrders,
} from "./stored_health.ts";
import { emptyLedger } from "../../ledger/testing/mod.ts";
import { orderRead } from "../../ledger/testing/projection_test_kit.ts";

Deno.test("lookAtComparison() finds one condition where orders succeed and nothing was ever recorded to compare with", async () => {
  await using ledger = await emptyLedger({
    goLive: minutesAgo(75),
  });
  const look = async () => {
    await ledger.project();
    return (await lookAtComparison(ledger.driver))[0];
  };
  assert.equal((await look())?.code, "orders_checked", "no order yet");
  await ledger.append([oddReading(ODD_ORDERS.pending, "pending", 20)]);
  await ledger.append([oddReading(ODD_ORDERS.refund, "success", 20)]);
  assert.equal((await look())?.code, "orders_checked", "others released it");
  await ledger.append([
    oddReading(ODD_ORDERS.success, "success", 10),
    oddReading(ODD_ORDERS.mismatch, "success", 5),
  ]);
  const found = await look();
  assert.equal(found?.code, "released_unchecked");
  assert.equal(found?.level, "warning");
  assert.equal(found?.since, minutesAgo(70));
  assert.match(found?.next ?? "", /recordSession/);
  assert.deepEqual(
    await Array.fromAsync(ledger.attention("not_comparable")),
    [],
    "one condition, and nothing to do about each order",
  );
  const [recorded] = oddEvents();
  assert.ok(recorded !== undefined);
  await ledger.append([recorded]);
  assert.equal((await look())?.code, "orders_checked");
});

Deno.test("lookAtOrders() finds the orders that wait for a person, together by their reason, and none that only webhooks name", async () => {
  await using ledger = await emptyLedger({ goLive: minutesAgo(75) });
  const look = async () => {
    await ledger.project();
    return (await lookAtOrders(ledger, Date.now())).map((
      { code, about, facts },
    ) => [code, about, facts.orders]);
  };
  assert.deepEqual(await look(), [["orders_settled", null, undefined]]);
  await ledger.append(oddEvents());
  const found = await look();
  assert.ok(found.every(([code]) => code === "orders_waiting"));
  assert.ok(
    found.some(([, kind, count]) =>
      kind === "reversed_after_success" && count === 1
    ),
    JSON.stringify(found),
  );
  assert.ok(!found.some(([, kind]) => kind === "forged_or_unknown"));
});

Deno.test("lookAtBacklog() finds what waits since when, and which ids the service refuses and why", async () => {
  await using ledger = await emptyLedger();
  const nowMs = Date.parse("2026-11-20T12:00:00.000Z");
  const look = (at = nowMs) => lookAtBacklog(ledger.driver, at);
  assert.deepEqual((await look()).map(({ code }) => code), [
    "nothing_to_confirm",
    "ids_taken",
  ]);
  const webhook = (id: string, beforeMs: number) =>
    ledger.appendDelivery({
      id: `W${id}`,
      receivedAt: new Date(nowMs - beforeMs).toISOString(),
      body: new TextEncoder().encode(
        `{"type":"payment_started","order":{"id":"${id}"}}`,
      ),
    });
  await ledger.append([
    orderRead(0, { orderId: "01KNOWN", status: "created" }),
  ]);
  await webhook("01KNOWN", 3_600_000);
  await webhook("01INVENTED", 60_000);
  await ledger.project();
  await ledger.driver.batch([{
    sql: `INSERT INTO set_aside
        (entity, id, kind, why, since, attempts, again_at)
      VALUES ('order', '01BAD' || char(27), 'refused', 'It answered 403',
        ?1, 1, 0)`,
    args: ["2026-11-20T11:00:00.000Z"],
  }], "write");
  const [backlog, refused] = await look();
  assert.equal(backlog?.code, "confirmations_waiting");
  assert.equal(backlog?.since, "2026-11-20T11:00:00.000Z");
  assert.match(
    backlog?.detail ?? "",
    /: 1 orders .*, the oldest for 60 min; 1 more .*, the oldest for 60 s$/,
  );
  assert.equal(refused?.code, "ids_refused");
  assert.match(refused?.detail ?? "", /01BAD\ufffd \(It answered 403\)/);
  const [early] = await look(Date.parse("2026-11-20T11:15:00.000Z"));
  assert.equal(early?.code, "nothing_to_confirm", "not yet too long");
});

Deno.test("lookAtDrift() tells answers from webhooks, the most frequent first, for a day", async () => {
  await using ledger = await emptyLedger();
  const { driver } = ledger;
  const nowMs = Date.now();
  const codes = async (atMs: number) =>
    (await lookAtDrift(driver, atMs)).map(({ code }) => code);
  assert.deepEqual(await codes(nowMs), ["drift_not_looked_for"]);
  const at = new Date(nowMs).toISOString();
  const met = (count: number) => ({ count, since: at, lastAt: at });
  const names = {
    "orders.risk": met(1),
    "orders.status=refunded": met(7),
    "webhooks.type=coffee_brewed": met(2),
  };
  await driver.batch([
    writeSweep("drift", { position: 9, names }, nowMs),
  ], "write");
  const [answers, webhooks] = await lookAtDrift(driver, nowMs);
  assert.match(
    answers?.detail ?? "",
    /: orders\.status=refunded \(7 times\), orders\.risk \(1 time\)$/,
  );
  assert.deepEqual(answers?.facts, {
    "orders.status=refunded": 7,
    "orders.risk": 1,
  });
  assert.equal(webhooks?.code, "webhooks_drifted");
  assert.deepEqual(await codes(nowMs + 25 * 3_600_000), [
    "service_as_described",
  ]);
});

import assert from "node:assert/strict";
import { readFreshness } from "../../sync/mod.ts";
import { orderRead } from "../../ledger/testing/projection_test_kit.ts";
import { POLL_LEASE, takeLease } from "../../ledger/for_sync.ts";
import { until } from "../../tests/kit/until.ts";
import { testApi } from "./testing/test_api.ts";

Deno.test("POST /v1/poll and /read press the poller, and say so where none is at work", async () => {
  let pressed = 0;
  await using api = await testApi({
    poller: {
      pollNow: () => {
        pressed++;
        return true;
      },
    },
  });
  const order = { orderId: "O1", status: "pending" };
  await api.ledger.append([orderRead(1, order)]);
  await api.ledger.project();
  assert.equal((await api.post("/v1/poll")).status, 202);
  assert.equal((await api.post("/v1/orders/XO1/read")).status, 202);
  assert.equal((await api.post("/v1/orders/NONE/read")).status, 404);
  assert.equal(pressed, 2);
  const { tier } = await readFreshness(api.ledger.driver, "order", "O1");
  assert.equal(tier, "named");
  assert.deepEqual(api.log.map(({ fields }) => fields), [
    { action: "poll", by: "night" },
    { action: "read_order", by: "night", orderId: "O1" },
  ]);

  await using without = await testApi({ ledger: api.ledger });
  assert.equal((await without.post("/v1/orders/O1/read")).status, 409);
  const lease = { name: POLL_LEASE, holder: "other", leaseMs: 60_000 };
  await takeLease(api.ledger.driver, lease);
  assert.equal((await without.post("/v1/orders/O1/read")).status, 202);
  const nobody = await without.post("/v1/poll");
  assert.equal(nobody.status, 409);
  assert.match((await nobody.json()).detail, /Nothing polls in this process/);
  await using standby = await testApi({ poller: { pollNow: () => false } });
  const other = await standby.post("/v1/poll");
  assert.equal(other.status, 409);
  assert.match((await other.json()).detail, /Another process polls/);
});

Deno.test("dead letters are retried and given up by subscription and key, also where the name is an address", async () => {
  await using api = await testApi();
  const { ledger } = api;
  await ledger.append([orderRead(1, { orderId: "O1", status: "success" })]);
  await ledger.project();
  const name = "forward:https://shop.example/hooks";
  const failed = Promise.withResolvers<void>();
  const subscription = await ledger.subscribe(name, {
    on: "order.confirmed.success",
    from: "start",
    maxAttempts: 1,
  }, () => {
    failed.resolve();
    throw new Error("No goods left");
  });
  await failed.promise;
  await until(async () =>
    (await ledger.subscriptions.deadLetters(name)).length === 1
  );
  await subscription.stop();
  const key = "order:O1:confirmed.success";
  const path = `/v1/subscriptions/${encodeURIComponent(name)}`;
  const posted = async (rest: string) => {
    const answer = await api.post(`${path}/${rest}`);
    return [answer.status, await answer.json()];
  };
  assert.deepEqual(await posted("retry?key=none"), [200, {
    retried: 0,
    hastened: 0,
  }]);
  assert.deepEqual(await posted(`retry?key=${key}`), [200, {
    retried: 1,
    hastened: 0,
  }]);
  assert.deepEqual(await posted(`drop?key=${key}`), [200, { dropped: 0 }]);
  assert.deepEqual(await posted("resume"), [200, { resumed: false }]);
  const unknown = await api.post("/v1/subscriptions/none/retry");
  assert.equal(unknown.status, 404);
  assert.match((await unknown.json()).detail, /there are forward:https:/);
  assert.deepEqual(api.log[1]?.fields, {
    action: "retry",
    by: "night",
    subscription: name,
    key,
    retried: 1,
    hastened: 0,
  });
});

Deno.test("no line of the log holds a token", async () => {
  await using api = await testApi({ poller: { pollNow: () => true } });
  await api.post("/v1/poll");
  assert.equal(api.log.length, 1);
  assert.ok(!JSON.stringify(api.log).includes("operate-operate"));
});

Deno.test("POST /v1/subscriptions/{subscription}/retry hastens what waits for an attempt, as the command does", async () => {
  await using api = await testApi();
  const { ledger } = api;
  await ledger.append([orderRead(1, { orderId: "O1", status: "success" })]);
  await ledger.project();
  const subscription = await ledger.subscribe(
    "shop",
    { on: "order.*.*", from: "start", start: false, maxAttempts: 9 },
    () => {
      throw new Error("not now");
    },
  );
  await subscription.dispatch();
  const answer = await api.post("/v1/subscriptions/shop/retry");
  const { retried, hastened } = await answer.json();
  assert.equal(retried, 0);
  assert.ok(hastened > 0);
  await subscription.stop();
});

import assert from "node:assert/strict";
import * as z from "zod";
import { OnrampClient } from "../../client/mod.ts";
import { readFreshness } from "../../sync/mod.ts";
import { orderRead } from "../../ledger/testing/projection_test_kit.ts";
import { POLL_LEASE, takeLease } from "../../ledger/for_sync.ts";
import { createSandbox } from "../../sandbox/mod.ts";
import { until } from "../../tests/kit/until.ts";
import { type TestApi, testApi } from "./test_api.ts";
import { answerSchema, documentOf } from "./test_openapi.ts";

/** A service with orders, and what asks it. */
function serviceOf(orders: number) {
  const sandbox = createSandbox();
  for (let index = 0; index < orders; index++) sandbox.createOrder();
  const client = () =>
    new OnrampClient({
      environment: "sandbox",
      apiKey: sandbox.apiKey,
      requestsPerSecond: 1000,
      fetch: (input, init) => sandbox.fetch(new Request(input, init)),
    });
  return { sandbox, client };
}

/** Checks an answer against the OpenAPI document. */
async function isDescribed(
  api: TestApi,
  operationId: string,
  answer: unknown,
): Promise<void> {
  const schema = answerSchema(await documentOf(api), operationId, 200);
  const { error } = schema.safeParse(answer);
  assert.equal(error && z.prettifyError(error), undefined);
}

Deno.test("POST /v1/recover reads a window behind its answer, and GET tells how it went", async () => {
  const { sandbox, client } = serviceOf(3);
  await using _ = sandbox;
  await using api = await testApi({ client, now: () => Date.now() });
  const from = new Date(Date.now() - 3_600_000).toISOString();
  const begun = await api.post(`/v1/recover?from=${from}`);
  assert.equal(begun.status, 202);
  const { id, state, by } = await begun.json();
  assert.deepEqual([id, state, by], [1, "running", "night"]);
  const recovery = async () => (await (await api.get("/v1/recover")).json());
  await until(async () => (await recovery()).state !== "running", "it ended");
  const ended = await recovery();
  await isDescribed(api, "getRecovery", ended);
  assert.deepEqual([ended.state, ended.error], ["ended", null]);
  assert.ok(ended.read >= 3, `${ended.read} read`);
  assert.equal(ended.report.complete, true, ended.report.why);
  assert.equal(ended.report.from, from);
  assert.equal((await api.ledger.stats()).orders, 3);
  assert.deepEqual(api.log.at(-1), {
    event: "operated",
    fields: { action: "recover", by: "night", id: 1, from, to: ended.to },
  });
});

Deno.test("POST /v1/reconcile compares behind its answer, and GET has the report as its schema says", async () => {
  const { sandbox, client } = serviceOf(2);
  await using _ = sandbox;
  await using api = await testApi({ client, now: () => Date.now() });
  const from = new Date(Date.now() - 3_600_000).toISOString();
  assert.equal((await api.get("/v1/reconcile")).status, 404);
  const begun = await api.post(`/v1/reconcile?from=${from}`);
  assert.equal(begun.status, 202);
  await begun.body?.cancel();
  const latest = async () => await (await api.get("/v1/reconcile")).json();
  await until(async () => (await latest()).state !== "running", "it ended");
  const ended = await latest();
  await isDescribed(api, "getReconciliation", ended);
  assert.deepEqual([ended.state, ended.error], ["ended", null]);
  assert.equal(ended.report.disagreements, 2);
  assert.equal(ended.report.rows[0].category, "behind");
  assert.ok(ended.report.rows[0].finding.message.length > 0);
  // Nothing was changed.
  assert.equal((await api.ledger.stats()).orders, 0);
  assert.deepEqual(api.log.map(({ fields }) => fields.action), ["reconcile"]);
});

Deno.test("POST /v1/recover refuses a second one, a window that is too long or empty, and a process without a key", async () => {
  const answers = Promise.withResolvers<Response>();
  const client = () =>
    new OnrampClient({
      environment: "sandbox",
      apiKey: "key",
      requestsPerSecond: 1000,
      fetch: () => answers.promise.then((answer) => answer.clone()),
    });
  await using api = await testApi({ client });
  const refused = async (query: string, status: number, detail: RegExp) => {
    const answer = await api.post(`/v1/recover${query}`);
    const problem = await answer.json();
    assert.equal(answer.status, status);
    assert.match(problem.detail, detail);
  };
  await refused("", 400, /Missing from/);
  await refused("?from=2026-09-01", 400, /at most 31 days/);
  await refused(
    "?from=2026-11-20&to=2026-11-18",
    400,
    /Wrong to: .* give a to that is later/,
  );
  assert.equal((await api.post("/v1/recover?from=2026-11-19")).status, 202);
  await refused("?from=2026-11-19", 409, /Number 1 is running/);
  answers.resolve(new Response("Broken", { status: 400 }));
  const recovery = async () => (await (await api.get("/v1/recover")).json());
  await until(async () => (await recovery()).state !== "running", "it failed");
  const failed = await recovery();
  await isDescribed(api, "getRecovery", failed);
  const { state, error, endedAt } = failed;
  assert.equal(state, "failed");
  assert.ok(error.length > 0 && endedAt !== null);

  await using keyless = await testApi();
  const answer = await keyless.post("/v1/recover?from=2026-11-19");
  assert.equal(answer.status, 409);
  assert.match((await answer.json()).detail, /RAMPKIT_API_KEY/);
  assert.deepEqual(keyless.log, []);
});

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

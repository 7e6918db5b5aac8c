import assert from "node:assert/strict";
import { OnrampClient } from "../../client/mod.ts";
import { createSandbox } from "../../sandbox/mod.ts";
import { READ, testApi } from "./testing/test_api.ts";

const BASKET = {
  clickId: "c-1",
  reference: "basket-17",
  currency: "USD",
  currencyAmount: "900.00",
};

/** The problem document of an answer. */
async function problemOf(answer: Response) {
  const { type, detail, errors = [] } = await answer.json();
  const fields = errors.map(({ field }: { field: string }) => field);
  return {
    status: answer.status,
    type: type.split(":").at(-1),
    detail,
    fields,
  };
}

Deno.test("POST /v1/expectations records what is expected, and says who asked", async () => {
  await using api = await testApi();
  const answer = await api.post("/v1/expectations", BASKET);
  assert.equal(answer.status, 200);
  const { id } = await answer.json();
  const { events } = await api.ledger.stats();
  assert.equal(events.order_expected, 1);
  assert.deepEqual(api.log.map(({ event, fields }) => [event, fields]), [
    ["operated", { action: "expect", by: "night", id }],
  ]);
});

Deno.test("POST /v1/expectations lists every field that is at fault", async () => {
  await using api = await testApi();
  const wrong = { ...BASKET, clickId: "", currencyAmount: 0.5, validForMs: 0 };
  const { status, type, fields } = await problemOf(
    await api.post("/v1/expectations", wrong),
  );
  assert.deepEqual([status, type], [400, "bad_request"]);
  assert.deepEqual(fields, ["clickId", "currencyAmount", "validForMs"]);
  const mistyped = { ...BASKET, amount: "900" };
  const other = await problemOf(await api.post("/v1/expectations", mistyped));
  assert.equal(other.status, 400);
  assert.match(other.detail, /Unknown field "amount": this takes clickId/);
});

Deno.test("POST /v1/expectations refuses a click id that is valid for another reference", async () => {
  await using api = await testApi();
  await (await api.post("/v1/expectations", BASKET)).body?.cancel();
  const { status, type, detail } = await problemOf(
    await api.post("/v1/expectations", { ...BASKET, reference: "basket-18" }),
  );
  assert.deepEqual([status, type], [409, "conflict"]);
  assert.match(detail, /"c-1" is still valid for the reference "basket-17"/);
});

Deno.test("POST /v1/expectations takes a JSON object, and a token that may operate", async () => {
  await using api = await testApi();
  for (const body of ["[]", "1", "{", ""]) {
    const answer = await api.fetch(
      new Request("http://127.0.0.1:8789/v1/expectations", {
        method: "POST",
        headers: { authorization: "Bearer operate-operate-operate" },
        body,
      }),
    );
    assert.equal((await problemOf(answer)).type, "bad_request", body);
  }
  const reading = await api.fetch(
    new Request("http://127.0.0.1:8789/v1/expectations", {
      method: "POST",
      headers: { authorization: `Bearer ${READ}` },
      body: JSON.stringify(BASKET),
    }),
  );
  assert.equal((await problemOf(reading)).status, 403);
  const large = { ...BASKET, network: "x".repeat(70_000) };
  const { detail } = await problemOf(await api.post("/v1/expectations", large));
  assert.match(detail, /larger than 65536 bytes/);
});

Deno.test("POST /v1/sessions asks the service for a session, and records it", async () => {
  await using sandbox = createSandbox();
  const client = new OnrampClient({
    environment: "sandbox",
    apiKey: sandbox.apiKey,
    fetch: (input, init) => sandbox.fetch(new Request(input, init)),
  });
  await using api = await testApi({ sessions: client.sessions });
  const answer = await api.post("/v1/sessions", {
    flowType: "simple",
    currency: "USD",
    currencyAmount: "25.00",
    reference: "basket-17",
    expected: { currencyAmount: 30 },
    validForMs: 60_000,
  });
  assert.equal(answer.status, 200);
  const { sessionId, clickId, validForMs } = await answer.json();
  assert.deepEqual([clickId, validForMs], ["c-minted", 30_000]);
  const [found] = await api.ledger.driver.batch(
    [{ sql: "SELECT body FROM events", args: [] }],
    "read",
  );
  const bodies = found?.rows.map(([body]) =>
    JSON.parse(new TextDecoder().decode(body as Uint8Array))
  );
  assert.deepEqual(bodies?.map(({ request_id: _, ...body }) => body), [{
    flow_type: "simple",
    currency: "USD",
    currency_amount: "25.00",
    reference: "basket-17",
    valid_for_ms: 60_000,
    session_id: sessionId,
    click_id: "c-minted",
    expected: { currency_amount: "30" },
  }]);
  const wrong = await problemOf(
    await api.post("/v1/sessions", { currencyAmount: "0.5" }),
  );
  assert.deepEqual([wrong.status, wrong.fields], [400, [
    "currency",
    "currency_amount",
  ]]);
});

Deno.test("POST /v1/sessions says what is missing without an API key, and when the service fails", async () => {
  await using api = await testApi();
  const basket = { currency: "USD", currencyAmount: "25.00" };
  const { status, detail } = await problemOf(
    await api.post("/v1/sessions", basket),
  );
  assert.equal(status, 409);
  assert.match(detail, /set RAMPKIT_API_KEY/);
  await using sandbox = createSandbox({ apiKey: "another" });
  const client = new OnrampClient({
    environment: "sandbox",
    apiKey: "wrong",
    fetch: (input, init) => sandbox.fetch(new Request(input, init)),
  });
  await using other = await testApi({ sessions: client.sessions });
  const refused = await problemOf(await other.post("/v1/sessions", basket));
  assert.deepEqual([refused.status, refused.type], [502, "service_failed"]);
});

import assert from "node:assert/strict";
import { createSandbox } from "./create_sandbox.ts";
import type { Sandbox, SandboxOptions } from "./sandbox.ts";

const WALLET = `0x${"ab".repeat(20)}`;
const LOCKED = {
  flow_type: "simple_full_restrict",
  wallet_address: WALLET,
  commodity: "ETH",
  network: "sepolia",
  currency: "USD",
  currency_amount: 25,
};
const MUST_SPECIFY = "invalid request: wallet_address and either " +
  "commodity_amount or currency_amount must be specified";

async function create(
  body: unknown,
  options?: SandboxOptions,
  key?: string,
  sandbox: Sandbox = createSandbox(options),
) {
  const response = await sandbox.fetch(
    new Request("http://sandbox/api/external/hpp/create-session", {
      method: "POST",
      headers: { "x-api-key": key ?? sandbox.apiKey },
      body: typeof body === "string" ? body : JSON.stringify(body),
    }),
  );
  return { status: response.status, body: await response.json() };
}

Deno.test("sessionRoute() answers with two new ids each time", async () => {
  const sandbox = createSandbox();
  const one = await create(LOCKED, {}, undefined, sandbox);
  const two = await create(LOCKED, {}, undefined, sandbox);
  assert.equal(one.status, 200);
  assert.deepEqual(Object.keys(one.body).sort(), ["requestId", "sessionId"]);
  assert.notEqual(one.body.sessionId, two.body.sessionId);
});

Deno.test("sessionRoute() accepts what the interface allows", async () => {
  const fine: Record<string, unknown>[] = [
    { flow_type: "simple" },
    { flow_type: "simple", commodity: "tt", network: "amoy" },
    { flow_type: "simple", user_id: "01ABC", own_field: 1 },
    { flow_type: "simple", currency: "USD", currency_amount: 1 },
    { ...LOCKED, currency_amount: undefined, commodity_amount: 0.01 },
  ];
  for (const body of fine) {
    assert.equal((await create(body)).status, 200, JSON.stringify(body));
  }
  const euro = { flow_type: "simple", currency: "EUR", currency_amount: 5 };
  assert.equal(
    (await create({
      ...euro,
      commodity: "ETH",
      network: "base",
    }, { assets: "production" })).status,
    200,
  );
});

Deno.test("sessionRoute() refuses what the interface forbids", async () => {
  const simple = { flow_type: "simple" };
  const wrong: [unknown, string | RegExp][] = [
    ["{", /not JSON/],
    ["[]", /must be an object/],
    [{}, /flow_type must be specified/],
    [{ flow_type: "other" }, /flow_type must be/],
    [{ ...LOCKED, wallet_address: undefined }, MUST_SPECIFY],
    [{ ...LOCKED, currency_amount: undefined }, MUST_SPECIFY],
    [{ ...simple, commodity: "ETH" }, /ETH on network bitcoin/],
    [{ ...simple, commodity: "ETH", network: "moon" }, /not supported/],
    [{ ...simple, commodity: { name: "ETH" } }, /must be a string/],
    [{ ...simple, currency_amount: 5 }, /currency must be specified/],
    [{ ...simple, currency: "EUR", currency_amount: 5 }, /EUR/],
    [{ ...simple, currency: "BTC", currency_amount: 5 }, /BTC/],
    [{ ...simple, currency: "USD", currency_amount: 0.99 }, /at least/],
    [{ ...simple, currency: "USD", currency_amount: "5" }, /must be a number/],
    [{ ...simple, commodity_amount: -1 }, /greater than 0/],
    [{ ...LOCKED, wallet_address: "0x12" }, /wallet_address/],
    // One letter's case is wrong, so its checksum is.
    [{
      ...LOCKED,
      wallet_address: "0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    }, /wallet_address/],
    [{
      ...LOCKED,
      commodity: "XTZ",
      network: "ghostnet",
    }, /wallet_address/],
  ];
  for (const [body, message] of wrong) {
    const answer = await create(body);
    assert.equal(answer.status, 400, JSON.stringify(body));
    if (typeof message === "string") assert.equal(answer.body.message, message);
    else assert.match(answer.body.message, message);
  }
});

Deno.test("sessionRoute() asks for at least 30 where the asset is BTC", async () => {
  const body = (currency_amount: number) => ({
    flow_type: "simple",
    commodity: "BTC",
    network: "bitcoin",
    currency: "USD",
    currency_amount,
  });
  const options = { assets: "production" } as const;
  assert.equal((await create(body(29.99), options)).status, 400);
  assert.equal((await create(body(30), options)).status, 200);
});

Deno.test("sessionRoute() lets a smart-contract partner leave amounts out", async () => {
  const body = { flow_type: "simple_full_restrict" };
  assert.equal((await create(body)).status, 400);
  const partner = { amountsOptional: true };
  assert.equal((await create(body, { partner })).status, 200);
});

Deno.test("sessionRoute() answers 401 to a wrong key", async () => {
  const answer = await create(LOCKED, {}, "wrong");
  assert.equal(answer.status, 401);
  assert.equal(
    answer.body.message,
    "unauthorized: API key is missing or invalid",
  );
});

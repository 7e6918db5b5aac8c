import assert from "node:assert/strict";
import { createSandbox } from "../../sandbox/mod.ts";
import { cli, temporaryLedger } from "../kit/cli.ts";

const API_KEY = "key-of-the-tests";

Deno.test("rampkit session create says what is wrong with its flags, and what the service will ignore", async () => {
  await using ledger = await temporaryLedger();
  await using sandbox = createSandbox({ apiKey: API_KEY });
  await using server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    sandbox.fetch,
  );
  const env = {
    RAMPKIT_DATABASE_URL: ledger.url,
    RAMPKIT_ENVIRONMENT: "sandbox",
    RAMPKIT_API_KEY: API_KEY,
    RAMPKIT_BASE_URL: `http://127.0.0.1:${server.addr.port}`,
  };
  const create = (...flags: string[]) =>
    cli(["session", "create", "--commodity", "TT", ...flags], env);

  const wrong = await create("--currency", "EUR");
  assert.equal(wrong.code, 2);
  assert.match(wrong.err, /network: is missing.*currency: is "EUR"/);

  const both = await create(
    ...["--network", "amoy", "--commodity-amount", "5"],
    ...["--currency", "USD", "--currency-amount", "25"],
  );
  assert.equal(both.code, 0, both.err);
  assert.match(both.out, /^Session /);
  assert.match(both.err, /commodity_amount is ignored/);
});

Deno.test("rampkit session create --extra sends what this version does not know, and records what the ledger compares", async () => {
  await using ledger = await temporaryLedger();
  const asked: unknown[] = [];
  await using server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    async (request) => {
      asked.push(await request.json());
      return Response.json({ sessionId: "s-1", requestId: "r-1" });
    },
  );
  const env = {
    RAMPKIT_DATABASE_URL: ledger.url,
    RAMPKIT_ENVIRONMENT: "sandbox",
    RAMPKIT_API_KEY: API_KEY,
    RAMPKIT_BASE_URL: `http://127.0.0.1:${server.addr.port}`,
  };
  const create = (...flags: string[]) =>
    cli(["session", "create", "--currency-amount", "25", ...flags], env);

  const refused = await create("--currency", "GBP");
  assert.equal(refused.code, 2);
  assert.match(refused.err, /GBP is neither .* use --extra currency=GBP/);
  const nameless = await create("--extra", "GBP");
  assert.equal(nameless.code, 2);
  assert.match(nameless.err, /Wrong --extra: GBP is not NAME=VALUE/);
  assert.deepEqual(asked, []);

  const created = await create(
    ...["--commodity", "TT", "--network", "amoy"],
    ...["--extra", "currency=GBP", "--extra", "promo=a=b"],
    ...["--click", "c-1"],
  );
  assert.equal(created.code, 0, created.err);
  assert.deepEqual(asked, [{
    flow_type: "simple",
    commodity: "TT",
    network: "amoy",
    currency_amount: 25,
    currency: "GBP",
    promo: "a=b",
  }]);
  const exported = await cli(["ledger", "export"], env);
  const recorded = exported.out.split("\n").find((text) =>
    text.includes('"session_created"')
  );
  const { body } = JSON.parse(recorded ?? "{}");
  assert.deepEqual(
    JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(body))),
    {
      session_id: "s-1",
      request_id: "r-1",
      flow_type: "simple",
      commodity: "TT",
      network: "amoy",
      currency_amount: "25",
      currency: "GBP",
      click_id: "c-1",
    },
  );
});

Deno.test("rampkit session create has a flag for each way out that its messages name", async () => {
  await using ledger = await temporaryLedger();
  const asked: unknown[] = [];
  await using server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    async (request) => {
      asked.push(await request.json());
      return Response.json({ sessionId: "s-1", requestId: "r-1" });
    },
  );
  const env = {
    RAMPKIT_DATABASE_URL: ledger.url,
    RAMPKIT_ENVIRONMENT: "sandbox",
    RAMPKIT_API_KEY: API_KEY,
    RAMPKIT_BASE_URL: `http://127.0.0.1:${server.addr.port}`,
  };
  const create = (...flags: string[]) =>
    cli(["session", "create", ...flags], env);

  const unlisted = ["--commodity", "NEW", "--network", "new"];
  const refused = await create(...unlisted);
  assert.equal(refused.code, 2);
  assert.match(refused.err, /pass --allow-unlisted-assets if/);
  assert.doesNotMatch(refused.err, /allowUnlistedAssets/);
  const taken = await create(...unlisted, "--allow-unlisted-assets");
  assert.equal(taken.code, 0, taken.err);

  const locked = [
    ...["--flow-type", "simple_full_restrict"],
    ...["--commodity", "TT", "--network", "amoy"],
  ];
  const bare = await create(...locked);
  assert.equal(bare.code, 2);
  assert.match(bare.err, /smart contract \(--smart-contract\)/);
  const contract = await create(...locked, "--smart-contract");
  assert.equal(contract.code, 0, contract.err);
  assert.deepEqual(asked, [
    { flow_type: "simple", commodity: "NEW", network: "new" },
    { flow_type: "simple_full_restrict", commodity: "TT", network: "amoy" },
  ]);
});

Deno.test("rampkit session create --expect-* records what the order is compared with, apart from the session's own fields", async () => {
  await using ledger = await temporaryLedger();
  const asked: unknown[] = [];
  await using server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    async (request) => {
      asked.push(await request.json());
      return Response.json({ sessionId: "s-1", requestId: "r-1" });
    },
  );
  const env = {
    RAMPKIT_DATABASE_URL: ledger.url,
    RAMPKIT_ENVIRONMENT: "sandbox",
    RAMPKIT_API_KEY: API_KEY,
    RAMPKIT_BASE_URL: `http://127.0.0.1:${server.addr.port}`,
  };
  const create = (...flags: string[]) =>
    cli([
      ...["session", "create", "--flow-type", "simple_full_restrict"],
      ...["--commodity", "TT", "--network", "amoy", "--smart-contract"],
      ...["--click", "c-1", ...flags],
    ], env);
  const wrong = await create("--expect-currency-amount", "1e3");
  assert.equal(wrong.code, 2);
  assert.match(
    wrong.err,
    /Wrong --expect-currency-amount is "1e3"/,
  );
  const stats = await cli(["ledger", "stats", "--json"], env);
  assert.equal(JSON.parse(stats.out).events.session_created, 0);
  asked.length = 0;
  const created = await create(
    ...["--expect-currency", "USD", "--expect-currency-amount", "25.00"],
    ...["--valid-for", "12h"],
  );
  assert.equal(created.code, 0, created.err);
  assert.deepEqual(asked, [
    { flow_type: "simple_full_restrict", commodity: "TT", network: "amoy" },
  ]);
  const exported = await cli(["ledger", "export"], env);
  const recorded = exported.out.split("\n").find((text) =>
    text.includes('"session_created"')
  );
  const { body } = JSON.parse(recorded ?? "{}");
  const stored = new TextDecoder().decode(Uint8Array.fromBase64(body));
  assert.deepEqual(JSON.parse(stored), {
    session_id: "s-1",
    request_id: "r-1",
    flow_type: "simple_full_restrict",
    commodity: "TT",
    network: "amoy",
    click_id: "c-1",
    valid_for_ms: 43_200_000,
    expected: { currency: "USD", currency_amount: "25.00" },
  });
});

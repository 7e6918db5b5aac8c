import assert from "node:assert/strict";
import { createSandbox } from "../sandbox/mod.ts";
import { cli, temporaryLedger } from "./_cli.ts";

const API_KEY = "key-of-the-tests";

Deno.test("session create says what is wrong with its flags, and what the service will ignore", async () => {
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

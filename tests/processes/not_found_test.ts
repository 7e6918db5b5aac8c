import assert from "node:assert/strict";
import { OnrampClient } from "../../client/mod.ts";
import { createPoller } from "../../sync/mod.ts";
import { openLedger } from "../../ledger/mod.ts";
import { serveSandbox } from "../../sandbox/mod.ts";
import { cli, temporaryLedger } from "../kit/cli.ts";

Deno.test("rampkit orders show advises a poll for a missing order only when polling is possible", async () => {
  await using place = await temporaryLedger();
  await using service = await serveSandbox({ port: 0, apiKey: "key" });
  const env = { RAMPKIT_DATABASE_URL: place.url };
  const asked = [["orders", "show", "none"], ["users", "show", "none"]];
  await using ledger = await openLedger({
    url: place.url,
    environment: "sandbox",
    worker: false,
  });
  for (const args of asked) {
    const withoutKey = await cli(args, env);
    assert.match(withoutKey.err, /poll --once \(with RAMPKIT_API_KEY set\)/);
    const withKey = await cli(args, { ...env, RAMPKIT_API_KEY: "key" });
    assert.match(withKey.err, /rampkit poll --once$/m);
  }
  const stop = new AbortController();
  const polled = Promise.withResolvers<void>();
  const poller = createPoller({
    ledger,
    client: new OnrampClient({
      environment: {
        name: "sandbox",
        baseUrl: service.url,
        cardsBaseUrl: service.url,
        widgetOrigin: service.url,
        dashboardUrl: service.url,
        assets: "sandbox",
      },
      apiKey: "key",
    }),
    onWatch: () => polled.resolve(),
  });
  const running = poller.run(stop.signal);
  await polled.promise;
  for (const args of asked) {
    const { code, err } = await cli(args, { ...env, RAMPKIT_API_KEY: "key" });
    assert.equal(code, 1);
    assert.doesNotMatch(err, /poll --once/);
    assert.match(err, /a poller works on this ledger/);
  }
  stop.abort();
  await running;
});

Deno.test("rampkit reconcile advises a poll for what a poll can mend, and for nothing else", async () => {
  await using place = await temporaryLedger();
  await using service = await serveSandbox({ port: 0, apiKey: "key" });
  const env = {
    RAMPKIT_DATABASE_URL: place.url,
    RAMPKIT_API_KEY: "key",
    RAMPKIT_BASE_URL: service.url,
  };
  const bodies = `${place.folder}/bodies.ndjson`;
  await Deno.writeTextFile(
    bodies,
    `{"type":"order_complete","order":{"id":"forged"}}\n`,
  );
  await cli(["webhook", "replay", bodies], env);
  const forged = await cli(["reconcile", "--rate", "1000"], env);
  assert.equal(forged.code, 3, forged.err);
  assert.match(forged.out, /absent/);
  assert.doesNotMatch(forged.out, /poll --once/);
  service.sandbox.createOrder();
  const behind = await cli(["reconcile", "--rate", "1000"], env);
  assert.equal(behind.code, 3, behind.err);
  assert.match(behind.out, /poll --once/);
});

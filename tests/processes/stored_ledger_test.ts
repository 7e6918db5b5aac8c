import assert from "node:assert/strict";
import { OnrampClient } from "../../client/mod.ts";
import { createPoller, type Ledger, openLedger } from "../../ledger/mod.ts";
import { createSandbox, virtualClock } from "../../sandbox/mod.ts";
import { webhookEndpoint } from "../../webhooks/mod.ts";
import { temporaryLedger } from "../kit/cli.ts";
import { temporaryFolder } from "../kit/temporary_folder.ts";

/** Versions of the schema that were ever published, each with its ledger. */
const VERSIONS = [1, 2];

const folder = new URL("../fixtures/", import.meta.url);

/** What a ledger says, as far as it must never change. */
async function said(ledger: Ledger) {
  const orders = await Array.fromAsync(ledger.orders.list({ sort: "oldest" }));
  const users = await Array.fromAsync(ledger.users.list({ sort: "oldest" }));
  const { chain, position, events } = await ledger.stats();
  return { orders, users, chain, position, events };
}

for (const version of VERSIONS) {
  Deno.test(`a ledger stored with schema ${version} opens, verifies and says what it said`, async () => {
    await using copy = await temporaryFolder();
    const path = `${copy.path}/ledger.db`;
    if (Deno.env.get("RAMPKIT_WRITE_FIXTURES") === String(version)) {
      await writeFixture(version);
    }
    await Deno.copyFile(new URL(`ledger_v${version}.db`, folder), path);
    const expected = JSON.parse(
      await Deno.readTextFile(new URL(`ledger_v${version}.json`, folder)),
    );
    await using ledger = await openLedger({ url: `file:${path}` });
    await ledger.project();
    const now = JSON.parse(JSON.stringify(await said(ledger)));
    assert.deepEqual(now, expected);
    const { count, hash } = expected.chain;
    const verified = await ledger.verify({ expect: { count, hash } });
    assert.equal(verified.ok, true, verified.reason?.code ?? "");
    // Folding again from nothing leads to the same states.
    assert.equal((await ledger.refold({ dryRun: true })).changed, 0);
    // And it goes on where it was.
    await ledger.appendDelivery({
      id: "01KZZZZZZZZZZZZZZZZZZZZZZZ",
      receivedAt: "2026-12-24T18:00:00.000Z",
      body: new TextEncoder().encode(`{"type":"login"}`),
    });
    await ledger.project();
    await ledger.chain();
    assert.equal((await ledger.verify()).ok, true);
  });
}

/** Makes the ledger of the version that this code writes. */
async function writeFixture(version: number): Promise<void> {
  const path = new URL(`ledger_v${version}.db`, folder).pathname;
  await Deno.remove(path).catch(() => {});
  const clock = virtualClock(Date.UTC(2026, 10, 20, 9));
  const now = () => clock.now();
  await using live = await temporaryLedger();
  await using ledger = await openLedger({
    url: live.url,
    environment: "sandbox",
    now,
  });
  const endpoint = webhookEndpoint({
    append: ledger.appendDelivery,
    secrets: ["secret"],
    now,
  });
  await using sandbox = createSandbox({
    seed: 4,
    clock,
    webhookUrl: "http://partner/webhooks/secret",
    fetch: (input, init) => clock.work(endpoint(new Request(input, init))),
    faults: { drop: 0.1, duplicate: 0.1, forge: 0.1, unknownType: 0.05 },
  });
  const lives = sandbox.populate({ orders: 8, spanMs: 3_600_000 });
  await clock.advance(6 * 3_600_000);
  await lives;
  const client = new OnrampClient({
    environment: "sandbox",
    apiKey: sandbox.apiKey,
    fetch: (input, init) => sandbox.fetch(new Request(input, init)),
    requestsPerSecond: 1000,
  });
  const [first] = sandbox.orders();
  await ledger.recordSession({
    session_id: first?.sessionId ?? "none",
    flow_type: "simple",
    reference: "basket-17",
    currency: "USD",
    currency_amount: "12.34",
  });
  await createPoller({ ledger, client, now, requestsPerSecond: 1000 }).once();
  await ledger.project();
  await ledger.chain();
  await endpoint.drain();
  await ledger.backup(path);
  await Deno.writeTextFile(
    new URL(`ledger_v${version}.json`, folder),
    `${JSON.stringify(await said(ledger), null, 2)}\n`,
  );
}

import assert from "node:assert/strict";
import { OnrampClient } from "../../client/mod.ts";
import { createPoller } from "../../sync/mod.ts";
import { type Ledger, openDriver, openLedger } from "../../ledger/mod.ts";
import { createSandbox, virtualClock } from "../../sandbox/mod.ts";
import { webhookEndpoint } from "../../webhooks/mod.ts";
import { isRecord } from "../../core/guards.ts";
import type { Driver } from "../../ledger/for_sync.ts";
import { migrate, migrations } from "../../ledger/testing/mod.ts";
import { temporaryLedger } from "../kit/cli.ts";
import { temporaryFolder } from "../kit/temporary_folder.ts";

/** Each version of the schema has its stored ledger. */
const VERSIONS = migrations.map(({ version }) => version);

/** Stores the ledger of the schema and fold that this code writes. */
const WRITE =
  "RAMPKIT_WRITE_FIXTURES=1 deno task test tests/processes/stored_ledger_test.ts";

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
    if (
      version === VERSIONS.length && Deno.env.has("RAMPKIT_WRITE_FIXTURES")
    ) await writeFixture(version);
    await Deno.copyFile(new URL(`ledger_v${version}.db`, folder), path);
    const expected = JSON.parse(
      await Deno.readTextFile(new URL(`ledger_v${version}.json`, folder)),
    );
    await using ledger = await openLedger({
      url: `file:${path}`,
      worker: false,
    });
    await ledger.project();
    const now = JSON.parse(JSON.stringify(await said(ledger)));
    assert.deepEqual(sayingOnly(expected, now), expected);
    if (version === VERSIONS.length) assert.deepEqual(now, expected);
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

/** What is said now, without fields that an older version did not have. */
function sayingOnly(before: unknown, now: unknown): unknown {
  if (Array.isArray(before) && Array.isArray(now)) {
    return now.map((one, at) => sayingOnly(before[at], one));
  }
  if (!isRecord(before) || !isRecord(now)) return now;
  return Object.fromEntries(
    Object.keys(before).filter((name) => Object.hasOwn(now, name))
      .map((name) => [name, sayingOnly(before[name], now[name])]),
  );
}

/** Tables and indexes of a database, by name. */
async function schemaOf(driver: Driver): Promise<unknown> {
  const [result] = await driver.batch([{
    sql: `SELECT name, sql FROM sqlite_schema
      WHERE sql IS NOT NULL AND name NOT GLOB 'sqlite_*' ORDER BY name`,
    args: [],
  }], "read");
  return result?.rows;
}

Deno.test("the latest stored ledger has the tables that this code makes", async () => {
  await using copy = await temporaryFolder();
  const path = `${copy.path}/ledger.db`;
  await Deno.copyFile(new URL(`ledger_v${VERSIONS.length}.db`, folder), path);
  const stored = await openDriver({ url: `file:${path}`, worker: false });
  const fresh = await openDriver({ url: ":memory:", worker: false });
  await migrate(fresh, { migrations, environment: "sandbox", now: Date.now });
  const schemas = [await schemaOf(stored), await schemaOf(fresh)];
  await stored.close();
  await fresh.close();
  assert.deepEqual(
    schemas[0],
    schemas[1],
    "a change of a published schema is a further migration; store the ledger " +
      `of an unpublished one anew with: ${WRITE}`,
  );
});

Deno.test("a stored ledger takes a further migration, and keeps its events", async () => {
  await using copy = await temporaryFolder();
  const path = `${copy.path}/ledger.db`;
  await Deno.copyFile(new URL("ledger_v1.db", folder), path);
  const driver = await openDriver({ url: `file:${path}`, worker: false });
  const version = migrations.length + 1;
  const stamp = await migrate(driver, {
    migrations: [...migrations, {
      version,
      statements: [
        "ALTER TABLE orders ADD COLUMN region TEXT NOT NULL DEFAULT ''",
        "UPDATE orders SET region = 'of ' || order_id",
        "CREATE INDEX orders_by_region ON orders(generation, region)",
      ],
    }],
    environment: "sandbox",
    now: Date.now,
  });
  assert.equal(stamp.schemaVersion, version);
  const [changed, events] = await driver.batch([{
    sql: "SELECT count(*) FROM orders WHERE region = 'of ' || order_id",
    args: [],
  }, { sql: "SELECT max(position) FROM events", args: [] }], "read");
  const expected = JSON.parse(
    await Deno.readTextFile(new URL("ledger_v1.json", folder)),
  );
  assert.deepEqual(changed?.rows, [[expected.orders.length]]);
  assert.deepEqual(events?.rows, [[expected.position]]);
  await driver.close();
  // The code of the version before refuses it, and changes nothing.
  await assert.rejects(
    openLedger({ url: `file:${path}`, worker: false }),
    new RegExp(`schema is ${version}, this version knows ${version - 1}`),
  );
});

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
    worker: false,
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

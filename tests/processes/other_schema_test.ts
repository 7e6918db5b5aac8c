import assert from "node:assert/strict";
import { openDriver, openLedger } from "../../ledger/mod.ts";
import { SCHEMA_VERSION } from "../../ledger/testing/mod.ts";
import {
  sqldAvailable,
  startSqld,
} from "../../ledger/testing/sqld_test_server.ts";
import { OPERATIONS } from "../../resources/operations/mod.ts";
import { deployApp } from "../../server/compose/deploy_app.ts";
import { cli, temporaryLedger } from "../kit/cli.ts";
import { temporaryFolder } from "../kit/temporary_folder.ts";

const environment = "sandbox";
const SECRET = "the-secret-in-the-webhook-address";
const OTHERS = [SCHEMA_VERSION - 1, SCHEMA_VERSION + 1];

/** What every door says. */
const SAID =
  /its schema is \d+, and this version of Rampkit uses \d+; nothing was written\. Run `ledger export` with the version that wrote it, then `ledger import` with this one into a new ledger/;

/** Makes a ledger with a delivery, as a version with other tables left it. */
async function makeOther(url: string, version: number): Promise<void> {
  {
    await using ledger = await openLedger({ url, environment, worker: false });
    await ledger.appendDelivery({
      id: "01KZZZZZZZZZZZZZZZZZZZZZZZ",
      receivedAt: "2026-11-20T18:00:00.000Z",
      body: new TextEncoder().encode(`{"type":"login"}`),
    });
  }
  const driver = await openDriver({ url, worker: false });
  await driver.batch([
    { sql: "UPDATE ledger SET schema = ?", args: [version] },
  ], "write");
  await driver.close();
}

/** Every table of a database, whole. */
async function contentOf(url: string): Promise<unknown> {
  const driver = await openDriver({ url, worker: false, readOnly: true });
  const read = async (sql: string) =>
    (await driver.batch([{ sql, args: [] }], "read"))[0]?.rows ?? [];
  const tables = await read(
    "SELECT name, sql FROM sqlite_schema WHERE name NOT GLOB '*sql*' ORDER BY 1",
  );
  const rows: unknown[] = [];
  for (const [name, sql] of tables) {
    if (String(sql).startsWith("CREATE TABLE")) {
      rows.push(await read(`SELECT * FROM ${name}`));
    }
  }
  await driver.close();
  return [tables, rows];
}

/** What a database's file and its log hold: as hashes, which are short to show. */
async function bytesIn(folder: string): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const name of ["ledger.db", "ledger.db-wal", "ledger.db-chain"]) {
    const bytes = await Deno.readFile(`${folder}/${name}`).catch(() => null);
    if (bytes === null || bytes.length === 0) continue;
    const hash = await crypto.subtle.digest("SHA-256", bytes);
    files[name] = new Uint8Array(hash).toHex();
  }
  return files;
}

for (const version of OTHERS) {
  for (const copied of [false, true]) {
    const what = copied ? "a copy of a ledger" : "a ledger";
    Deno.test(`openLedger() refuses ${what} of schema ${version} in a file, and changes none of its bytes`, async () => {
      await using place = await temporaryLedger();
      const { url } = place;
      await makeOther(url, version);
      if (copied) {
        // A copy keeps no write-ahead log, which opening it for writing begins.
        const driver = await openDriver({ url, worker: false });
        await driver.copyTo?.(`${place.folder}/copy.db`);
        await driver.close();
        await Deno.rename(
          `${place.folder}/copy.db`,
          `${place.folder}/ledger.db`,
        );
      }
      const before = await bytesIn(place.folder);
      const refusal = { code: "other_schema", message: SAID };
      for (const worker of [true, false]) {
        for (const readOnly of [true, false]) {
          await assert.rejects(
            openLedger({ url, environment, worker, readOnly }),
            refusal,
          );
          await assert.rejects(openLedger({ url, worker, readOnly }), refusal);
        }
      }
      assert.deepEqual(await bytesIn(place.folder), before);
    });
  }
}

/** Commands that open the ledger, with what they cannot do without. */
const COMMANDS = [
  ["serve", "--port", "0"],
  ["console", "--port", "0"],
  ["poll", "--once"],
  ["reconcile"],
  ["recover", "--from", "2026-11-20"],
  ["orders", "list"],
  ["orders", "totals"],
  ["orders", "show", "01ORDER"],
  ["orders", "explain", "01ORDER"],
  ["orders", "export"],
  ["users", "list"],
  ["users", "show", "01USER"],
  ["users", "erase", "01USER"],
  ["users", "erased"],
  ["find", "basket-1"],
  ["attention"],
  ["month", "list"],
  ["month", "show", "2026-11"],
  ["month", "close", "2026-11"],
  ["session", "create", "--currency", "EUR"],
  ["expect", "--click", "basket-1", "--currency-amount", "10"],
  ["release", "01ORDER", "--delivered", "--by", "Ada", "--why", "x"],
  ["note", "order", "01ORDER", "--text", "x", "--by", "Ada"],
  ["witness"],
  ["ledger", "stats"],
  ["ledger", "verify"],
  ["ledger", "refold"],
  ["ledger", "prune", "--bodies-older-than", "400d"],
  ["ledger", "export"],
  ["ledger", "import", "export.ndjson"],
  ["ledger", "backup", "backup.db"],
  ["deliveries", "list"],
  ["deliveries", "show", "01DELIVERY"],
  ["subscriptions", "list"],
  ["subscriptions", "retry", "shop"],
  ["subscriptions", "drop", "shop", "order:01ORDER:release.yes"],
  ["subscriptions", "stop", "shop"],
  ["subscriptions", "resume", "shop"],
  ["subscriptions", "fire", "shop", "01ORDER"],
  ["webhook", "replay", "bodies.ndjson"],
];

Deno.test("every command refuses a ledger of another schema, says what to do, and changes none of its bytes", async (t) => {
  await using place = await temporaryLedger();
  await makeOther(place.url, SCHEMA_VERSION - 1);
  for (const name of ["export.ndjson", "bodies.ndjson"]) {
    await Deno.writeTextFile(`${place.folder}/${name}`, "");
  }
  const before = await bytesIn(place.folder);
  const env = {
    RAMPKIT_DATABASE_URL: place.url,
    RAMPKIT_ENVIRONMENT: environment,
    RAMPKIT_API_KEY: "key",
    RAMPKIT_BASE_URL: "http://127.0.0.1:1",
    RAMPKIT_WEBHOOK_SECRET: SECRET,
  };
  // These open other files, and are tried apart or by their own tests.
  const apart = ["ledger restore"];
  const untried = OPERATIONS.map(({ command }) => command ?? "serve")
    .filter((command) =>
      !apart.includes(command) &&
      !COMMANDS.some((args) => args.join(" ").startsWith(command))
    );
  assert.deepEqual(untried, []);
  for (const command of COMMANDS) {
    await t.step(command.join(" "), async () => {
      const args = command.map((arg) =>
        /\.(ndjson|db)$/.test(arg) ? `${place.folder}/${arg}` : arg
      );
      const { code, out, err } = await cli(args, env);
      assert.match(err, SAID);
      assert.equal(code, 1);
      assert.equal(out, "");
      assert.deepEqual(await bytesIn(place.folder), before);
    });
  }
  await t.step("doctor", async () => {
    const { code, out } = await cli(["doctor"], env);
    assert.match(out.replaceAll(/\s+/g, " "), SAID);
    assert.equal(code, 1);
    assert.deepEqual(await bytesIn(place.folder), before);
  });
});

Deno.test("ledger restore refuses a backup of another schema, and leaves the ledger as it is", async () => {
  await using place = await temporaryLedger();
  await using other = await temporaryFolder();
  const backup = `${other.path}/backup.db`;
  await makeOther(`file:${backup}`, SCHEMA_VERSION - 1);
  await makeOther(place.url, SCHEMA_VERSION);
  const before = await bytesIn(place.folder);
  const { code, err } = await cli(["ledger", "restore", backup], {
    RAMPKIT_DATABASE_URL: place.url,
  });
  assert.match(err, SAID);
  assert.equal(code, 1);
  assert.deepEqual(await bytesIn(place.folder), before);
});

Deno.test({
  name:
    "openLedger(), serve and Deno Deploy refuse a ledger of another schema on a server, and write nothing there",
  ignore: !sqldAvailable,
  fn: async () => {
    await using folder = await temporaryFolder();
    await using sqld = await startSqld({ directory: folder.path });
    const { url } = sqld;
    await makeOther(url, SCHEMA_VERSION + 1);
    const before = await contentOf(url);
    const refusal = { code: "other_schema", message: SAID };
    await assert.rejects(openLedger({ url, environment }), refusal);
    await assert.rejects(openLedger({ url, readOnly: true }), refusal);
    const settings: Record<string, string> = {
      RAMPKIT_DATABASE_URL: url,
      RAMPKIT_ENVIRONMENT: environment,
      RAMPKIT_WEBHOOK_SECRET: SECRET,
    };
    const served = await cli(["serve", "--port", "0"], settings);
    assert.match(served.err, SAID);
    assert.equal(served.code, 1);
    let log = "";
    const deployed = deployApp({
      env: (name) => settings[name],
      write: (text) => log += text,
      now: Date.now,
    });
    const delivery = await deployed.fetch(
      new Request(`http://partner/webhooks/${SECRET}`, {
        method: "POST",
        body: "{}",
      }),
    );
    assert.equal(delivery.status, 503);
    const ready = await deployed.fetch(new Request("http://partner/readyz"));
    assert.equal(ready.status, 503);
    assert.match(`${await ready.text()}${log}`, SAID);
    await assert.rejects(deployed.poll(), refusal);
    assert.deepEqual(await contentOf(url), before);
  },
});

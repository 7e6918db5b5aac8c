import assert from "node:assert/strict";
import { cli, temporaryLedger } from "../kit/cli.ts";

/** Every message is one line that a person can act on. */
function oneLine(text: string): void {
  assert.equal(text.trimEnd().split("\n").length, 1, text);
}

Deno.test("rampkit serve says how to set the secret when it is missing", async () => {
  const { code, err } = await cli(["serve"]);
  assert.equal(code, 2);
  assert.match(err, /RAMPKIT_WEBHOOK_SECRET/);
  oneLine(err);
});

Deno.test("a missing API key is named with how to set it", async () => {
  await using ledger = await temporaryLedger();
  const { code, err } = await cli([
    "poll",
    "--once",
    "--database-url",
    ledger.url,
  ]);
  assert.equal(code, 2);
  assert.match(err, /RAMPKIT_API_KEY/);
  oneLine(err);
});

Deno.test("rampkit refuses a wrong environment before it opens anything", async () => {
  const { code, err } = await cli(["orders", "list"], {
    RAMPKIT_ENVIRONMENT: "staging",
    RAMPKIT_DATABASE_URL: "file:/nonexistent/x.db",
  });
  assert.equal(code, 2);
  assert.match(err, /staging/);
  oneLine(err);
});

Deno.test("rampkit says in one line that a ledger file cannot be opened", async () => {
  const { code, err } = await cli([
    "orders",
    "list",
    "--database-url",
    "file:/nonexistent/folder/x.db",
  ]);
  assert.equal(code, 1);
  assert.match(err, /\/nonexistent\/folder\/x\.db/);
  oneLine(err);
});

Deno.test("rampkit says in one line that a file is not a database, and does not change it", async () => {
  await using ledger = await temporaryLedger();
  const path = `${ledger.folder}/notes.txt`;
  const text = "Not a database. ".repeat(100);
  await Deno.writeTextFile(path, text);
  const { code, err } = await cli([
    "orders",
    "list",
    "--database-url",
    `file:${path}`,
  ]);
  assert.equal(code, 1);
  oneLine(err);
  assert.equal(await Deno.readTextFile(path), text);
});

Deno.test("rampkit refuses a ledger of another environment", async () => {
  await using ledger = await temporaryLedger();
  const env = { RAMPKIT_DATABASE_URL: ledger.url };
  const file = `${ledger.folder}/none.ndjson`;
  await Deno.writeTextFile(file, "");
  const made = await cli(["webhook", "replay", file], {
    ...env,
    RAMPKIT_ENVIRONMENT: "sandbox",
  });
  assert.equal(made.code, 0, made.err);
  const { code, err } = await cli(["ledger", "stats"], {
    ...env,
    RAMPKIT_ENVIRONMENT: "production",
  });
  assert.equal(code, 1);
  assert.match(err, /sandbox/);
  assert.match(err, /production/);
  oneLine(err);
});

Deno.test("an unreachable service is one clear line and harms nothing", async () => {
  await using ledger = await temporaryLedger();
  // Of a service that no machine offers any more: nobody listens there.
  const port = 9;
  const env = {
    RAMPKIT_DATABASE_URL: ledger.url,
    RAMPKIT_API_KEY: "key-that-must-not-be-shown",
    RAMPKIT_BASE_URL: `http://127.0.0.1:${port}`,
  };
  const { code, out, err } = await cli(["poll", "--once"], env);
  assert.equal(code, 1);
  assert.equal((out + err).includes("key-that-must-not-be-shown"), false);
  assert.match(err, new RegExp(`127\\.0\\.0\\.1:${port}`));
  const stats = await cli(["ledger", "verify", "--json"], env);
  assert.equal(JSON.parse(stats.out).ok, true);
});

Deno.test("a port that is taken is one clear line", async () => {
  await using ledger = await temporaryLedger();
  using listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const port = String(listener.addr.port);
  for (
    const args of [
      ["serve", "--no-poll", "--port", port],
      ["sandbox", "--port", port],
    ]
  ) {
    const { code, err } = await cli(args, {
      RAMPKIT_DATABASE_URL: ledger.url,
      RAMPKIT_WEBHOOK_SECRET: "the-secret-in-the-webhook-address",
    });
    assert.equal(code, 1, args.join(" "));
    assert.match(err, new RegExp(`port ${port} is taken.*--port`));
    oneLine(err);
  }
});

Deno.test("an order that is not there is exit code 1 and says what to do", async () => {
  await using ledger = await temporaryLedger();
  const { code, err } = await cli([
    "orders",
    "show",
    "nothing",
    "--database-url",
    ledger.url,
  ]);
  assert.equal(code, 1);
  assert.match(err, /"nothing".*poll/);
  oneLine(err);
});

Deno.test("rampkit exits with code 2 when a command, flag or value is unknown", async () => {
  for (
    const args of [
      ["frobnicate"],
      ["orders", "list", "--colour"],
      ["orders", "show"],
      ["orders", "list", "--limit", "many"],
      ["orders", "list", "--from", "yesterday"],
      ["serve", "--port", "99999"],
      ["demo", "--orders", "-1"],
    ]
  ) {
    const { code, err } = await cli(args);
    assert.equal(code, 2, `${args.join(" ")}: ${err}`);
    assert.notEqual(err, "");
  }
});

import assert from "node:assert/strict";
import { main } from "../../cli/mod.ts";
import { LEASE_MS, POLL_LEASE, takeLease } from "../../ledger/for_sync.ts";
import { openLedger } from "../../ledger/mod.ts";
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
  assert.equal(code, 2);
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
  await (await openLedger({
    url: ledger.url,
    environment: "sandbox",
    worker: false,
  })).close();
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

Deno.test("serve refuses an --allow that is no address before it opens anything", async () => {
  await using ledger = await temporaryLedger();
  const { code, err } = await cli(["serve", "--allow", "192.0.2.300"], {
    RAMPKIT_DATABASE_URL: ledger.url,
    RAMPKIT_WEBHOOK_SECRET: "the-secret-in-the-webhook-address",
  });
  assert.equal(code, 2);
  assert.match(err, /^Wrong --allow: .*"192\.0\.2\.300"/);
  oneLine(err);
  assert.deepEqual([...Deno.readDirSync(ledger.folder)], []);
});

Deno.test("a window that ends before it begins is refused, not found empty", async () => {
  await using ledger = await temporaryLedger();
  const window = ["--from", "2026-11-20", "--to", "2026-11-19"];
  const env = {
    RAMPKIT_DATABASE_URL: ledger.url,
    RAMPKIT_API_KEY: "key",
    RAMPKIT_BASE_URL: "http://127.0.0.1:9",
  };
  for (
    const command of [["reconcile"], ["recover"], ["orders", "list"], [
      "orders",
      "export",
    ]]
  ) {
    const { code, err } = await cli([...command, ...window], env);
    assert.equal(code, 2, command.join(" "));
    assert.match(err, /^Wrong --to: .*2026-11-20T00:00:00.000Z/);
    oneLine(err);
  }
});

Deno.test("webhook replay refuses the events of an export, and stores none of them", async () => {
  await using ledger = await temporaryLedger();
  const file = `${ledger.folder}/events.ndjson`;
  await Deno.writeTextFile(
    file,
    '{"rampkit":"events","version":1,"environment":"sandbox"}\n{"end":0}\n',
  );
  const env = { RAMPKIT_DATABASE_URL: ledger.url };
  const { code, err } = await cli(["webhook", "replay", file], env);
  assert.equal(code, 2);
  assert.match(err, /ledger import/);
  oneLine(err);
  const stats = await cli(["ledger", "stats", "--json"], env);
  assert.equal(JSON.parse(stats.out).events.webhook, 0);
});

Deno.test("webhook replay counts the bodies that are no documented event", async () => {
  await using ledger = await temporaryLedger();
  const file = `${ledger.folder}/bodies.ndjson`;
  await Deno.writeTextFile(file, '{"type":"test"}\n{"type":"new"}\nnone\n');
  const env = { RAMPKIT_DATABASE_URL: ledger.url };
  const asJson = await cli(["webhook", "replay", file, "--json"], env);
  const { replayed, unrecognised } = JSON.parse(asJson.out);
  assert.deepEqual({ replayed, unrecognised }, {
    replayed: 3,
    unrecognised: 2,
  });
  const { out } = await cli(["webhook", "replay", file], env);
  assert.match(out, /: 2 of them; .*rampkit webhook parse/);
});

Deno.test("ledger import says which command takes a file that is no export", async () => {
  await using ledger = await temporaryLedger();
  const file = `${ledger.folder}/bodies.ndjson`;
  for (const text of ["notes\n", '{"type":"test"}\n', "null\n"]) {
    await Deno.writeTextFile(file, text);
    const { code, err } = await cli(["ledger", "import", file], {
      RAMPKIT_DATABASE_URL: ledger.url,
    });
    assert.equal(code, 1, text);
    assert.match(err, /^Cannot import line 1: .*webhook replay/, text);
    oneLine(err);
  }
});

Deno.test("webhook send refuses flags that would count for nothing", async () => {
  const env = { RAMPKIT_WEBHOOK_SECRET: "the-secret-in-the-webhook-address" };
  const typed = await cli(["webhook", "send", "--type", "order_failed"], env);
  assert.equal(typed.code, 2);
  assert.match(typed.err, /^Wrong --type: "order_failed".*--order/);
  const both = await cli(["webhook", "send", "{}", "--order", "A"], env);
  assert.equal(both.code, 2);
  assert.match(both.err, /^Wrong --order: "A"/);
});

Deno.test("webhook send says what a 404 can mean", async () => {
  await using server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    () => new Response(null, { status: 404 }),
  );
  const to = `http://127.0.0.1:${server.addr.port}`;
  const { code, err } = await cli(["webhook", "send", "--to", to], {
    RAMPKIT_WEBHOOK_SECRET: "the-secret-in-the-webhook-address",
  });
  assert.equal(code, 1);
  assert.match(err, /RAMPKIT_WEBHOOK_SECRET/);
  oneLine(err);
});

Deno.test("month show refuses flags that leave each other out, and flags that count for nothing", async () => {
  const refused = async (...flags: string[]) => {
    const { code, err } = await cli(["month", "show", "2026-11", ...flags]);
    assert.equal(code, 2);
    return err;
  };
  const file = ["--file", "items.csv"];
  const both = await refused(...file, "--json");
  const together = "These do not go together: --json, --file";
  assert.equal(JSON.parse(both).error.message, together);
  assert.match(
    await refused(...file, "--recompute"),
    /^These do not go together: .*--file.*--recompute/,
  );
  assert.match(await refused("--output", "x.csv"), /^Missing --file: /);
  assert.match(
    await refused("--file", "sums.csv"),
    /^Wrong --file: .*summary.json/,
  );
  const bom = ["--bom", "--output", "x.json", "--file", "summary.json"];
  assert.match(await refused(...bom), /--bom is for a spreadsheet/);
});

Deno.test("a window that begins in the future is refused, not found in agreement", async () => {
  for (const command of ["reconcile", "recover"]) {
    const { code, err } = await cli([command, "--from", "2999-01-01"], {
      RAMPKIT_API_KEY: "key",
    });
    assert.equal(code, 2, command);
    assert.match(err, /^Wrong --from: 2999-01-01T00:00:00.000Z is later/);
    oneLine(err);
  }
});

Deno.test("find says how much of an id it needs when it was given less", async () => {
  await using ledger = await temporaryLedger();
  await (await openLedger({
    url: ledger.url,
    environment: "sandbox",
    worker: false,
  })).close();
  const { code, err } = await cli([
    ...["find", "01k", "--database-url", ledger.url],
  ]);
  assert.equal(code, 1);
  assert.match(err, /^Nothing found: .*"01k"; .* 4 characters/);
});

Deno.test("poll says that another poller works on the ledger, and waits for it", async () => {
  await using stored = await temporaryLedger();
  await using ledger = await openLedger({
    url: stored.url,
    environment: "sandbox",
    worker: false,
  });
  await takeLease(ledger.driver, {
    name: POLL_LEASE,
    holder: "another",
    leaseMs: LEASE_MS,
  });
  const stop = new AbortController();
  let err = "";
  const code = await main(["poll", "--database-url", stored.url], {
    out: () => {},
    err: (text) => {
      err += text;
      if (err.includes("Another poller")) stop.abort();
    },
    env: (name) =>
      ({
        RAMPKIT_API_KEY: "key",
        RAMPKIT_BASE_URL: "http://127.0.0.1:9",
      } as Record<string, string>)[name],
    columns: null,
    colour: false,
    now: () => Date.now(),
    signal: stop.signal,
  });
  assert.equal(code, 0);
  assert.match(err, /Another poller works on this ledger.*takes over/);
});

Deno.test("ledger restore names the file that is no copy of a ledger, and keeps the ledger", async () => {
  await using ledger = await temporaryLedger();
  const env = { RAMPKIT_DATABASE_URL: ledger.url };
  const bodies = `${ledger.folder}/bodies.ndjson`;
  await Deno.writeTextFile(bodies, '{"type":"test"}\n');
  assert.equal((await cli(["webhook", "replay", bodies], env)).code, 0);
  const { code, err } = await cli(["ledger", "restore", bodies], env);
  assert.equal(code, 1);
  assert.match(err, /^Cannot restore \S*bodies.ndjson: .*ledger import/);
  oneLine(err);
  const stats = await cli(["ledger", "stats", "--json"], env);
  assert.equal(JSON.parse(stats.out).events.webhook, 1);
});

Deno.test("ledger backup leaves nothing where there is no ledger", async () => {
  await using ledger = await temporaryLedger();
  const { code, err } = await cli(
    ["ledger", "backup", `${ledger.folder}/copy.db`],
    { RAMPKIT_DATABASE_URL: ledger.url },
  );
  assert.equal(code, 2);
  assert.match(err, /^No ledger at file:/);
  oneLine(err);
  assert.deepEqual([...Deno.readDirSync(ledger.folder)], []);
});

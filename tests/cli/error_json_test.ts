import assert from "node:assert/strict";
import { openLedger } from "../../ledger/mod.ts";
import { createSandbox } from "../../sandbox/mod.ts";
import { cli, temporaryLedger } from "../kit/cli.ts";
import { hasShape } from "../kit/shape.ts";

const SECRET = "key-that-nobody-may-see";

/** Runs a command with `--json` that fails, and gives what it printed last. */
async function failing(
  args: readonly string[],
  env?: Readonly<Record<string, string>>,
  signal?: AbortSignal,
) {
  const ran = await cli([...args, "--json"], env, signal);
  const name = args.join(" ");
  assert.ok(ran.err.endsWith("\n"), name);
  const last = ran.err.trimEnd().split("\n").at(-1) ?? "";
  const json = JSON.parse(last);
  hasShape("error", json);
  assert.equal(json.error.exitCode, ran.code, name);
  assert.ok(!ran.err.includes(SECRET), ran.err);
  return { ...json.error, lines: ran.err.trimEnd().split("\n").length };
}

Deno.test("wrong usage under --json is one object on standard error, whoever notices it", async () => {
  for (
    const args of [
      ["nonsense"],
      ["orders"],
      ["orders", "show"],
      ["orders", "list", "--stat"],
      ["orders", "list", "--limit", "many"],
      ["orders", "list", "--anomaly", "nonsense"],
      ["reconcile"],
      ["find", ""],
      ["schema", "nonsense"],
      ["serve"],
    ]
  ) {
    const { code, exitCode, lines, message } = await failing(args);
    assert.deepEqual([code, exitCode, lines], ["usage", 2, 1], args.join(" "));
    assert.match(message, /^[A-Z]/);
    assert.ok(!message.includes("\n"));
  }
});

Deno.test("a ledger that is not there, or of another environment, is an object under --json", async () => {
  await using ledger = await temporaryLedger();
  const env = { RAMPKIT_DATABASE_URL: ledger.url };
  assert.equal(
    (await failing(["ledger", "backup", "x.db"], env)).code,
    "usage",
  );
  await (await openLedger({
    url: ledger.url,
    environment: "sandbox",
    worker: false,
  })).close();
  assert.equal((await failing(["orders", "show", "x"], env)).code, "not_found");
  const other = { ...env, RAMPKIT_ENVIRONMENT: "production" };
  assert.equal(
    (await failing(["ledger", "stats"], other)).code,
    "wrong_environment",
  );
});

Deno.test("what the service answers is told under --json, without the key", async () => {
  await using ledger = await temporaryLedger();
  await using sandbox = createSandbox({ apiKey: "another" });
  await using server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    sandbox.fetch,
  );
  const env = {
    RAMPKIT_DATABASE_URL: ledger.url,
    RAMPKIT_ENVIRONMENT: "sandbox",
    RAMPKIT_API_KEY: SECRET,
    RAMPKIT_BASE_URL: `http://127.0.0.1:${server.addr.port}`,
  };
  const refused = await failing(["reconcile", "--rate", "1000"], env);
  assert.equal(refused.code, "unauthorized");
  assert.equal(refused.exitCode, 1);
  assert.equal(refused.service.status, 401);
  const wrong = await failing(
    ["session", "create", "--commodity", "USDC", "--wallet", SECRET],
    env,
  );
  assert.equal(wrong.code, "usage");
  assert.ok(wrong.faults.length > 0);
});

Deno.test("a command that is stopped says so as an object under --json", async () => {
  await using ledger = await temporaryLedger();
  await (await openLedger({
    url: ledger.url,
    environment: "sandbox",
    worker: false,
  })).close();
  const stop = AbortSignal.abort(new DOMException("Stop", "AbortError"));
  const { code, exitCode } = await failing(
    ["ledger", "verify"],
    { RAMPKIT_DATABASE_URL: ledger.url },
    stop,
  );
  assert.deepEqual([code, exitCode], ["stopped", 1]);
});

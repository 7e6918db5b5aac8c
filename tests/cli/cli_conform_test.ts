import assert from "node:assert/strict";
import { createSandbox, type Sandbox } from "../../sandbox/mod.ts";
import { cli } from "../kit/cli.ts";
import { temporaryFolder } from "../kit/temporary_folder.ts";
import { until } from "../kit/until.ts";

const API_KEY = "key-of-the-conform-tests";

/** A service with thirty orders of an hour ago, and the settings to reach it. */
function served(differs: readonly string[] = []) {
  const sandbox: Sandbox = createSandbox({ apiKey: API_KEY, differs });
  const hourAgoMs = Date.now() - 3_600_000;
  for (let n = 0; n < 30; n++) sandbox.createOrder({}, hourAgoMs + n * 2000);
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    sandbox.fetch,
  );
  return {
    env: {
      RAMPKIT_API_KEY: API_KEY,
      RAMPKIT_BASE_URL: `http://127.0.0.1:${server.addr.port}`,
      RAMPKIT_DATABASE_URL: ":memory:",
    },
    async [Symbol.asyncDispose]() {
      await sandbox.close();
      await server.shutdown();
    },
  };
}

Deno.test("conform says row by row what agrees, differs and is not seen, and a replay says the same", async () => {
  await using folder = await temporaryFolder();
  await using service = served(["orders_limit_default"]);
  const { env } = service;
  const file = `${folder.path}/transcript.json`;
  const seen = await cli(
    ["conform", "--rate", "1000", "--transcript", file],
    env,
  );
  assert.equal(seen.code, 3, seen.err);
  assert.match(
    seen.out,
    /^ {2}DIFF {2}Without a limit ten orders come\n {8}seen: rows 15\n {8}at risk: orders or users may not be found, or found late\n {8}used by: checkOrdersQuery in client\/endpoints\/orders_api\.ts\n {8}row: orders_limit_default in CONFORM\.md$/m,
  );
  assert.match(seen.out, /^ {2}ok {4}With a limit of 20 twenty orders come$/m);
  assert.match(
    seen.out,
    /^ {2}Not seen: --create-session shows it\n {2}- {5}A session of the flow simple is created$/m,
  );
  assert.match(seen.out, / 1 differs, \d+ not seen\nWritten to /);
  const replay = await cli(["conform", "--replay", file]);
  assert.equal(replay.code, 3);
  assert.equal(replay.out, seen.out.replace(/Written to .*\n$/, ""));
  const json = JSON.parse(
    (await cli(["conform", "--replay", file, "--json"])).out,
  );
  assert.deepEqual(
    json.rows.filter((row: { verdict: string }) => row.verdict === "differs")
      .map((row: { name: string }) => row.name),
    ["orders_limit_default"],
  );
});

Deno.test("conform fails, and finds no difference, where the key is refused or nobody answers", async () => {
  await using service = served();
  const { env } = service;
  const refused = await cli(["conform"], {
    ...env,
    RAMPKIT_API_KEY: "another-key-altogether",
  });
  assert.equal(refused.code, 1);
  assert.match(refused.err, /use the API key of this environment/);
  const silent = await cli(["conform"], {
    ...env,
    RAMPKIT_BASE_URL: "http://127.0.0.1:1",
  });
  assert.equal(silent.code, 1);
  assert.match(silent.err, /the connection to http:\/\/127\.0\.0\.1:1 failed/);
});

Deno.test("conform --wait-for-test listens until Test is pressed, and leaves other events to the service", async () => {
  await using service = served();
  const env = {
    ...service.env,
    RAMPKIT_WEBHOOK_SECRET: "the-secret-of-a-test",
  };
  let note = "";
  const stop = new AbortController();
  const { main } = await import("../../cli/mod.ts");
  let out = "";
  const running = main(
    ["conform", "--rate", "1000", "--wait-for-test", "0"],
    {
      out: (text) => out += text,
      err: (text) => note += text,
      env: (name) => env[name as keyof typeof env],
      columns: null,
      colour: false,
      now: () => Date.now(),
      signal: stop.signal,
    },
  );
  await until(() => note.includes("Listening on"));
  const [, port = ""] = /127\.0\.0\.1:(\d+)/.exec(note) ?? [];
  const post = async (path: string, body: unknown) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-signature": "v1" },
      body: JSON.stringify(body),
    });
    await answer.body?.cancel();
    return answer.status;
  };
  const test = {
    type: "test",
    click_id: "test_click_id",
    order: { id: "", base: "ETH" },
  };
  assert.equal(await post("/webhooks/another", test), 404);
  const path = "/webhooks/the-secret-of-a-test";
  assert.equal(await post(path, { type: "order_complete" }), 503);
  assert.equal(await post(path, test), 204);
  assert.equal(await running, 3);
  assert.match(out, /ok {4}The test event has test_click_id/);
  assert.match(
    out,
    /DIFF {2}A webhook has no header that signs it\n {8}seen: .*signing x-signature/,
  );
});

Deno.test("conform refuses flags that make no sense together, before it asks", async () => {
  const replay = await cli(["conform", "--replay", "x", "--wrong-key"]);
  assert.equal(replay.code, 2);
  assert.match(replay.err, /it asks nobody/);
  const production = await cli(["conform", "--wait-for-test", "0"], {
    RAMPKIT_API_KEY: API_KEY,
    RAMPKIT_ENVIRONMENT: "production",
    RAMPKIT_DATABASE_URL: ":memory:",
  });
  assert.equal(production.code, 2);
  assert.match(production.err, /it listens in place of `serve`/);
  await using folder = await temporaryFolder();
  const file = `${folder.path}/none.json`;
  await Deno.writeTextFile(file, "{}");
  const unread = await cli(["conform", "--replay", file]);
  assert.equal(unread.code, 1);
  assert.match(unread.err, /its form is missing/);
});

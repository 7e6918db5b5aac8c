import assert from "node:assert/strict";
import { createSandbox, type Sandbox } from "../../sandbox/mod.ts";
import { cli } from "../kit/cli.ts";

const API_KEY = "key-of-the-conform-tests";

/** A service with thirty orders of an hour ago, and the settings to reach it. */
function served({ mostRows = 20 }: { readonly mostRows?: number } = {}) {
  const sandbox: Sandbox = createSandbox({ apiKey: API_KEY });
  const hourAgoMs = Date.now() - 3_600_000;
  for (let n = 0; n < 30; n++) sandbox.createOrder({}, hourAgoMs + n * 2000);
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    (request) => {
      const url = new URL(request.url);
      if (url.searchParams.get("limit") === "20") {
        url.searchParams.set("limit", String(mostRows));
      }
      return sandbox.fetch(new Request(url, request));
    },
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

Deno.test("conform says row by row what agrees, differs and is not seen", async () => {
  await using service = served({ mostRows: 12 });
  const { env } = service;
  const seen = await cli(["conform", "--rate", "1000"], env);
  assert.equal(seen.code, 3, seen.err);
  assert.match(
    seen.out,
    /^ {2}DIFF {2}With a limit of 20 twenty orders come\n {8}seen: rows 12\n {8}at risk: orders or users may not be found, or found late\n {8}row: orders_limit_most$/m,
  );
  assert.match(seen.out, /^ {2}ok {4}Amounts of an order are JSON numbers$/m);
  assert.match(
    seen.out,
    /^ {2}Not seen: no order that shows it\n {2}- {5}An order with success names its transaction$/m,
  );
  assert.match(seen.out, / agree, \d+ differs?, \d+ not seen\n$/);
  const { code, out } = await cli(
    ["conform", "--rate", "1000", "--json"],
    env,
  );
  assert.equal(code, 3);
  const { environment, counts, rows } = JSON.parse(out);
  assert.equal(environment, "sandbox");
  assert.equal(counts.agrees + counts.differs + counts.not_seen, rows.length);
  const named = (name: string) =>
    rows.find((row: { name: string }) => row.name === name);
  assert.deepEqual(named("orders_limit_most"), {
    name: "orders_limit_most",
    subject: "order_pages",
    taken: "With a limit of 20 twenty orders come",
    verdict: "differs",
    facts: [{ name: "rows", value: 12 }],
    reason: null,
    risk: {
      code: "missed",
      message: "orders or users may not be found, or found late",
    },
  });
  assert.equal(
    named("order_success_has_transaction").reason.code,
    "no_such_order",
  );
});

Deno.test("conform ends with 0 where nothing differs", async () => {
  await using service = served();
  const { code, out } = await cli(
    ["conform", "--rate", "1000"],
    service.env,
  );
  assert.equal(code, 0, out);
  assert.match(out, / agree, 0 differ, /);
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

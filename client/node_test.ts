import assert from "node:assert/strict";
import { join } from "node:path";
import { answers, serve } from "./service_test.ts";

/** What the bundled client does outside Deno; prints one line of JSON. */
const script = `
import { OnrampClient, toEnglishName } from "./client.mjs";

const url = process.argv[2];
let client;
try {
  client = new OnrampClient({
    environment: {
      name: "local", baseUrl: url, cardsBaseUrl: url, widgetOrigin: url,
      dashboardUrl: url, assets: "sandbox",
    },
    apiKey: "key",
    requestsPerSecond: 1000,
  });
} catch (error) {
  console.log(JSON.stringify({ refused: error.message }));
  process.exit(0);
}
const orders = client.orders.list({
  start_date: "2026-01-01T00:00:00Z", end_date: "2026-01-02T00:00:00Z",
}, { prove: true });
const amounts = [];
for await (const order of orders) amounts.push(order.crypto_amount);
const session = await client.sessions.create({
  flow_type: "simple", commodity: "POL", network: "amoy",
  currency: "USD", currency_amount: "100.10",
});
const failure = await client.users.page({ limit: 5 }).catch((error) => error);
console.log(JSON.stringify({
  amounts,
  complete: orders.completeness.complete,
  session: session.sessionId,
  failure: failure.name,
  deno: typeof globalThis.Deno,
  name: toEnglishName("Łukasz"),
}));
`;

async function run(
  program: string,
  args: readonly string[],
): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await new Deno.Command(program, {
    args: [...args],
    stdout: "piped",
    stderr: "piped",
  }).output();
  const decoder = new TextDecoder();
  assert.equal(code, 0, decoder.decode(stderr));
  return JSON.parse(decoder.decode(stdout).trim().split("\n").at(-1) ?? "");
}

/** Bundles the door once for both versions of Node. */
async function bundled(
  use: (script: string) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    const bundle = await new Deno.Command("deno", {
      args: [
        "bundle",
        "--quiet",
        "--output",
        join(folder, "client.mjs"),
        new URL("../mod.ts", import.meta.url).pathname,
      ],
      stderr: "piped",
    }).output();
    assert.equal(bundle.code, 0, new TextDecoder().decode(bundle.stderr));
    await Deno.writeTextFile(join(folder, "run.mjs"), script);
    await use(join(folder, "run.mjs"));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const { state: mayRun } = await Deno.permissions.query({
  name: "run",
  command: "npx",
});

Deno.test(
  "OnrampClient works in a bundle under Node 22, and throws a clear error under Node 20",
  {
    // A run without the permission to start npx leaves this one out.
    ignore: mayRun !== "granted",
  },
  async () => {
    await using service = serve((request) => {
      const { pathname, searchParams } = new URL(request.url);
      if (pathname.endsWith("users")) {
        return new Response("{}", { status: 401 });
      }
      if (request.method === "POST") {
        return new Response(answers["sessions.create"]);
      }
      return new Response(
        searchParams.has("cursor_id")
          ? '{"success":true,"data":[],"total":1}'
          : `{"success":true,"total":1,"next_cursor_id":"C","data":[
            {"order_id":"A","status":"success","crypto_amount":0.100000000000000001}
          ]}`,
      );
    });
    await bundled(async (path) => {
      assert.deepEqual(
        await run("npx", ["--yes", "node@22", path, service.url]),
        {
          amounts: ["0.100000000000000001"],
          complete: true,
          session: "S",
          failure: "AuthenticationError",
          deno: "undefined",
          name: "Lukasz",
        },
      );
      const sent = service.requests.find(({ method }) => method === "POST");
      assert.match(sent?.body ?? "", /"currency_amount":100\.10[,}]/);
      const old = await run("npx", ["--yes", "node@20", path, service.url]);
      assert.match(String(old.refused), /no exact JSON numbers.*Node 22/);
    });
  },
);

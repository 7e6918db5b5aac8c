import assert from "node:assert/strict";
import { join } from "node:path";
import { cli, temporaryLedger } from "../kit/cli.ts";

Deno.test("rampkit doctor names each chain node that is not as it should be, and never its address", async () => {
  await using file = await temporaryLedger();
  const folder = await Deno.makeTempDir();
  const chains = join(folder, "chains.json");
  // Nobody listens there.
  const url = "http://user:pass-4711@127.0.0.1:1";
  await Deno.writeTextFile(
    chains,
    JSON.stringify({
      bitcoin: { nodes: { "core-1": url }, confirmations: 3 },
    }),
  );
  const ran = await cli(["doctor", "--json"], {
    RAMPKIT_DATABASE_URL: file.url,
    RAMPKIT_ENVIRONMENT: "sandbox",
    RAMPKIT_CHAINS: chains,
  });
  const { checks } = JSON.parse(ran.out);
  const found = checks.find(({ code }: { code: string }) =>
    code === "node_silent"
  );
  assert.equal(found?.name, "Chain nodes", ran.err);
  assert.match(found.detail, /core-1 of bitcoin \(unreachable\)/);
  assert.equal(/4711|127\.0\.0\.1:1\b/.test(ran.out + ran.err), false);
  await Deno.remove(folder, { recursive: true });
});

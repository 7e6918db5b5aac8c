import assert from "node:assert/strict";
import { linkedPackage } from "../runtimes/installed_package.ts";

Deno.test("the packed package takes webhooks, polls and survives SIGKILL under Node 22", async () => {
  await using installed = await linkedPackage();
  const node = ["npx", "--yes", "node@22"];
  await assert.rejects(
    installed.run([...node, "contract.mjs", "run", "node"]),
    /"answered":50/,
  );
  const said = await installed.run([...node, "contract.mjs", "reopen", "node"]);
  assert.match(said, /"kept":50/);
});

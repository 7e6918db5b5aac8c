import assert from "node:assert/strict";
import { linkedPackage } from "../runtimes/installed_package.ts";

Deno.test("the packed package takes webhooks, polls and survives SIGKILL under Node 22, and its types need no library after 2020", async () => {
  await using installed = await linkedPackage();
  await installed.run([
    ...["deno", "run", "-A", "node_modules/typescript/bin/tsc", "--noEmit"],
    ...["--strict", "--module", "nodenext", "--skipLibCheck", "false"],
    ...["--target", "es2020", "--lib", "es2020,dom", "typed.ts"],
  ]);
  // One start of npx: each takes as long as the program itself.
  const said = await installed.run([
    ...["npx", "--yes", "--package", "node@22", "-c"],
    'node contract.mjs run node || echo "ended with $?"; ' +
    "node contract.mjs reopen node 2>&1; " +
    "node node_modules/@rampkit/onramp/cli/main.js schema sent; " +
    "node --input-type=module --eval " +
    `'await import("@rampkit/onramp/deploy").catch((error) => console.log(error.message))'`,
  ]);
  // Node 22 says of its SQLite that it is experimental.
  assert.doesNotMatch(said, /Warning/);
  // Data that is no code is packed as well.
  assert.match(said, /"title": "sent"/);
  assert.match(said, /runs there alone: in Node and Bun use startOnramp of /);
  assert.match(said, /"answered":50\}\nended with 137\n\{"kept":50\}/);
});

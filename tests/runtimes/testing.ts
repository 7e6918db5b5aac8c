/**
 * A partner's own tests and one start for a whole program, from the packed
 * package, under every runtime and runner: a part of `deno task test:runtimes`.
 *
 * @module
 */
import assert from "node:assert/strict";
import { installedPackage, NPM_INSTALL } from "./installed_package.ts";
import { itself, RUNTIMES, untilLine } from "./where.ts";

const installed = await installedPackage();
Deno.test.afterAll(async () => await installed[Symbol.asyncDispose]());

/** Each runner: where its `test` comes from, and what runs a file of tests. */
const RUNNERS = [
  ["node --test of Node 22", "node:test", [
    "npx",
    "--yes",
    "node@22",
    "--test",
  ]],
  ["node --test of Node 24", "node:test", [
    "npx",
    "--yes",
    "node@24",
    "--test",
  ]],
  ["bun test", "bun:test", ["npx", "--yes", "bun", "test"]],
  ["vitest", "vitest", [
    ...["npx", "--yes", "--package", "node@24", "--", "node"],
    ...["node_modules/vitest/vitest.mjs", "run"],
  ]],
  // Of as many histories as chaos plays unless told otherwise.
  ["deno test", "node:test", [
    ...["env", "CHAOS_SEEDS=100", "deno", "test", "-A", "--no-check"],
  ]],
] as const;

for (const [name, from, command] of RUNNERS) {
  Deno.test(`${name} runs tests of a shop in memory, chaos included`, async () => {
    const { folder, run } = installed;
    if (from === "vitest") await run([...NPM_INSTALL, "vitest"]);
    const file = `${from.replace(":", "_")}.test.mjs`;
    await Deno.writeTextFile(
      `${folder}/${file}`,
      `import { test } from "${from}";\n` +
        'import { shopTests } from "./shop_tests.mjs";\nshopTests(test);\n',
    );
    const said = await run([...command, `./${file}`]);
    console.log(`${name}: ${/a test took .*/.exec(said)?.[0] ?? said}`);
  });
}

for (const [name, runtime] of RUNTIMES) {
  Deno.test(`${name} starts a program that ships once and ends on SIGTERM`, async () => {
    const command = [
      ...await itself(installed, runtime),
      ...["started.mjs", `started-${name.replace(" ", "-")}`],
    ];
    const line = /shipped basket-1/;
    const { code, said } = await untilLine(installed, command, { line });
    assert.equal(code, 0, said);
    assert.match(said, /answered 204/);
    assert.equal(said.match(/shipped/g)?.length, 1);
    assert.doesNotMatch(said, /told/);
  });

  if (name === "Node 22") continue; // It does not know `using`.
  Deno.test(`${name} ends a program where its block ends`, async () => {
    const said = await installed.run([...runtime, "using.mjs"]);
    assert.equal(said, "opened sandbox\nclosed\n");
  });
}

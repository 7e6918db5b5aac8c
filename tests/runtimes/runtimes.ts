/**
 * The packed package on every runtime, installed from the registry as npm does:
 * `deno task test:runtimes`. It needs npm and a network.
 *
 * @module
 */
import assert from "node:assert/strict";
import { installedPackage, NPM_INSTALL } from "./installed_package.ts";
import { itself, RUNTIMES } from "./where.ts";

const PROGRAM = "node_modules/@rampkit/onramp/cli/main.js";

const installed = await installedPackage();
Deno.test.afterAll(async () => await installed[Symbol.asyncDispose]());

for (const [name, runtime] of RUNTIMES) {
  Deno.test(`${name} takes webhooks, polls, subscribes, verifies, and keeps what it answered when killed`, async () => {
    const ledger = name.replace(" ", "");
    await assert.rejects(
      installed.run([...runtime, "contract.mjs", "run", ledger]),
      /"answered":50/,
    );
    const reopen = [...runtime, "contract.mjs", "reopen", ledger];
    assert.match(await installed.run(reopen), /"kept":50/);

    const rampkit = [...runtime, PROGRAM];
    assert.match(
      await installed.run([...rampkit, "--help"]),
      /^Usage: rampkit/m,
    );
    const show = ["orders", "show", "order-7", "--json"];
    const at = ["--database-url", `file:${ledger}.db`];
    const said = await installed.run([...rampkit, ...show, ...at]);
    assert.match(said, /"orderId":"order-7".*"trust":"claimed"/);
  });

  Deno.test(`${name} runs the demo, its endpoint killed halfway, to 0 differences`, async () => {
    const demo = ["demo", "--orders", "30", "--crash", "--fresh", "--json"];
    const said = await installed.run([...runtime, PROGRAM, ...demo]);
    const { ordersInLedger, differences } = JSON.parse(said);
    assert.deepEqual([ordersInLedger, differences], [30, 0]);
  });

  Deno.test(`${name} takes a webhook in five lines and prints a confirmed order`, async () => {
    const said = await installed.run([...runtime, "five_lines.mjs"]);
    assert.match(said, /"trust":"confirmed"/);
    for (const end of ["", "-chain"]) {
      await Deno.remove(`${installed.folder}/five.db${end}`);
    }
  });
}

Deno.test("Node 24 serves: a delivery is answered, kept and shown, and SIGTERM ends it", async () => {
  const at = ["--database-url", "file:served.db"];
  const node24 = ["npx", "--yes", "node@24"];
  const [node = ""] = await itself(installed, node24);
  const args = [PROGRAM, "serve", "--no-poll", "--port", "0", ...at];
  const secret = "the-secret-in-the-webhook-address";
  const child = new Deno.Command(node, {
    args,
    cwd: installed.folder,
    env: { RAMPKIT_WEBHOOK_SECRET: secret, RAMPKIT_ENVIRONMENT: "sandbox" },
    stdout: "null",
    stderr: "piped",
  }).spawn();
  let log = "";
  for await (const part of child.stderr.pipeThrough(new TextDecoderStream())) {
    const known = log.length;
    log += part;
    const url = /"event":"listening","url":"([^"]+)"/.exec(log)?.[1];
    if (url === undefined || log.slice(0, known).includes(url)) continue;
    const { status } = await fetch(`${url}/webhooks/${secret}`, {
      method: "POST",
      body: '{"type":"order_complete","order":{"id":"served"}}',
    });
    assert.equal(status, 204);
    child.kill("SIGTERM");
  }
  await child.status;
  assert.match(log, /"event":"stopped"/);
  const show = ["orders", "show", "served", "--json", ...at];
  const said = await installed.run([...node24, PROGRAM, ...show]);
  assert.match(said, /"orderId":"served".*"trust":"claimed"/);
});

Deno.test("Node 22.22.2, whose SQLite is too old, is told so and makes no file", async () => {
  const old = ["npx", "--yes", "node@22.22.2", "contract.mjs", "reopen", "old"];
  await assert.rejects(
    installed.run(old),
    /SQLite 3\.51\.2 can lose what another process commits; use .*Node 22\.22\.3/,
  );
  await assert.rejects(Deno.stat(`${installed.folder}/old.db`));
});

Deno.test("npx rampkit demo runs by the name that npm installs, and names itself so", async () => {
  const demo = "rampkit demo --orders 20 --folder named";
  const said = await installed.run([
    // As in a project whose Node is this one: npx finds the program there.
    ...["npx", "--yes", "--package", "node@24", "-c", demo],
  ]);
  assert.match(said, /Differences +0/);
  assert.match(said, /^ {2}npx rampkit orders list --database-url file:named/m);
});

Deno.test("Node 24 runs the recipes for Express and Next with these packages", async () => {
  const { run } = installed;
  await run([
    ...NPM_INSTALL,
    // Compilers and pictures are not needed to make a request of Next's.
    ...["--omit=optional", "--omit=peer", "express@5", "next@16"],
  ]);
  const said = await run(["npx", "--yes", "node@24", "frameworks.mjs"]);
  assert.match(said, /"stored":2/);
});

Deno.test("tsc takes the types, libraries included, with the types of Node and with those of a browser, of 2020 as well", async () => {
  const { run } = installed;
  await run([...NPM_INSTALL, "typescript@6.0.3", "@types/node@22"]);
  for (
    const where of [
      ["--types", "node"],
      ["--lib", "es2022,dom"],
      ["--lib", "es2020", "--types", "node"],
      ["--lib", "es2020,dom", "--target", "es2020"],
    ]
  ) {
    await run([
      ...["node_modules/.bin/tsc", "--noEmit", "--strict"],
      ...["--module", "nodenext", "--target", "es2022"],
      ...["--skipLibCheck", "false", ...where, "typed.ts"],
    ]);
  }
});

/**
 * Programs that are bundled with the packed package: they work, and say what to
 * set where the bundler left a part of it behind. A part of
 * `deno task test:runtimes`.
 *
 * @module
 */
import assert from "node:assert/strict";
import { dirname } from "node:path";
import { installedPackage, NPM_INSTALL } from "./installed_package.ts";
import { NEXT_APP, NEXT_CONFIG } from "./next_app.ts";
import { itself, untilLine } from "./where.ts";

const installed = await installedPackage();
Deno.test.afterAll(async () => await installed[Symbol.asyncDispose]());

const NODE = await itself(installed, ["npx", "--yes", "node@24"]);
const BUN = await itself(installed, ["npx", "--yes", "bun"]);
const NO_THREAD = /^told database_thread_missing$/gm;

/** Runs what was made of `started.mjs`; gives how often it tells of the thread. */
async function ships(
  command: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<number> {
  const name = `${installed.folder}/${crypto.randomUUID()}`;
  const line = /shipped basket-1/;
  const { code, said } = await untilLine(installed, [...command, name], {
    line,
    env,
  });
  assert.equal(code, 0, said);
  assert.match(said, /answered 204/);
  assert.equal(said.match(/^told/gm)?.length ?? 0, countOf(said), said);
  return countOf(said);
}

function countOf(said: string): number {
  return said.match(NO_THREAD)?.length ?? 0;
}

/** Bundles for Node. */
async function esbuild(...args: readonly string[]): Promise<void> {
  const { folder, run } = installed;
  await run([...NPM_INSTALL, "esbuild"]);
  await run([
    ...[`${folder}/node_modules/.bin/esbuild`, ...args],
    ...["--bundle", "--platform=node", "--format=esm", "--log-level=error"],
    ...["--out-extension:.js=.mjs"],
  ]);
}

Deno.test("a bundle of esbuild ships, and says once that the thread is missing", async () => {
  await esbuild("started.mjs", "--outdir=alone");
  assert.equal(await ships([...NODE, "alone/started.mjs"]), 1);
});

Deno.test("a bundle of esbuild with the thread beside it has a thread", async () => {
  const entries = ["started.mjs", "thread=@rampkit/onramp/thread"];
  await esbuild(...entries, "--outdir=both");
  const url = new URL(`file://${installed.folder}/both/thread.mjs`).href;
  const env = { THREAD_MODULE: url };
  assert.equal(await ships([...NODE, "both/started.mjs"], env), 0);
});

Deno.test("a bundle of esbuild that leaves the package out has a thread", async () => {
  await esbuild("started.mjs", "--packages=external", "--outdir=outside");
  assert.equal(await ships([...NODE, "outside/started.mjs"]), 0);
});

Deno.test("a bundle of Bun ships, and says once that the thread is missing", async () => {
  const build = ["build", "started.mjs", "--target=bun", "--outdir=bun"];
  await installed.run([...BUN, ...build]);
  assert.equal(await ships([...BUN, "bun/started.js"]), 1);
});

for (const config of ["", NEXT_CONFIG]) {
  const name = config === "" ? "as it is" : "with serverExternalPackages";
  Deno.test(`an app of Next ${name} takes a webhook, and ${config === "" ? "says once that the thread is missing" : "has a thread"}`, async () => {
    const { folder, run } = installed;
    await run([...NPM_INSTALL, "next@16", "react", "react-dom"]);
    for (
      const [file, text] of [
        ...Object.entries(NEXT_APP),
        ["next.config.mjs", config || "export default {};\n"] as const,
      ]
    ) {
      await Deno.mkdir(dirname(`${folder}/${file}`), { recursive: true });
      await Deno.writeTextFile(`${folder}/${file}`, text);
    }
    const next = [...NODE, "node_modules/next/dist/bin/next"];
    await run([...next, "build"]);
    const port = freePort();
    const posted = Promise.withResolvers<number>();
    const command = [...next, "start", "--port", String(port)];
    const { said } = await untilLine(installed, command, {
      line: /started/,
      then: async () => {
        const url = `http://127.0.0.1:${port}/webhooks/`;
        const { status } = await fetch(
          `${url}the-secret-in-the-webhook-address`,
          { method: "POST", body: '{"type":"login","user_id":"u"}' },
        );
        posted.resolve(status);
      },
    });
    assert.equal(await posted.promise, 204, said);
    assert.equal(countOf(said), config === "" ? 1 : 0, said);
  });
}

/** It loads another program from a server of Deno's, which may be out of reach. */
const COMPILE = ["deno", "compile", "-A", "--quiet"];
const canCompile = await installed.run([
  ...[...COMPILE, "--output", "nothing"],
  "data:text/javascript,",
]).then(() => true, () => false);

Deno.test({
  name: "a program of deno compile ships",
  ignore: !canCompile,
  fn: async () => {
    const compile = [...COMPILE, "--output", "compiled", "started.mjs"];
    await installed.run(compile);
    assert.ok(await ships([`${installed.folder}/compiled`]) <= 1);
  },
});

function freePort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();
  return port;
}

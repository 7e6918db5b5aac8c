import assert from "node:assert/strict";
import { dirname, join } from "node:path/posix";
import { importsOf } from "../kit/imports.ts";
import { isTestFile, moduleOf, sourceFiles } from "../kit/source_files.ts";

const root = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");

/** Every module in the order of import, and the modules that it may import. */
const IMPORTS: Readonly<Record<string, readonly string[]>> = {
  core: [],
  client: ["core"],
  webhooks: ["core"],
  "mod.ts": ["client", "webhooks"],
  widget: ["core"],
  sandbox: ["core"],
  ledger: ["core"],
  sync: ["core", "ledger"],
  witness: ["core", "ledger"],
  resources: ["core", "client", "webhooks", "ledger", "sync", "witness"],
  server: [
    ...["core", "client", "webhooks", "widget", "ledger", "sync", "witness"],
    ...["resources"],
  ],
  testing: ["core", "sandbox", "ledger", "server"],
  cli: [
    ...["core", "client", "webhooks", "widget", "sandbox", "ledger", "sync"],
    ...["witness", "resources", "server", "testing"],
  ],
};

Deno.test("every module has its place in the order of import, and may import only modules before it", async () => {
  const names = Object.keys(IMPORTS);
  const published = (await sourceFiles(root)).filter((file) =>
    !isTestFile(file)
  );
  assert.deepEqual(
    [...new Set(published.map(moduleOf))].sort(),
    names.toSorted(),
  );
  for (const [at, name] of names.entries()) {
    const before = names.slice(0, at);
    const wrong = IMPORTS[name]?.filter((one) => !before.includes(one));
    assert.deepEqual(wrong, [], name);
  }
});

Deno.test("modules import only what the order of import allows", async () => {
  const wrong: string[] = [];
  for (const { file, target, imported } of await importsOf(root)) {
    const [from, to] = [moduleOf(file), moduleOf(target)];
    if (!imported || from === to || isTestFile(file)) continue;
    if (!IMPORTS[from]?.includes(to)) wrong.push(`${file} imports ${target}`);
  }
  assert.deepEqual(wrong, []);
});

Deno.test("files named _name.ts are imported from their own folder only", async () => {
  const wrong: string[] = [];
  for (const { file, target } of await importsOf(root)) {
    const name = target.split("/").at(-1) ?? "";
    if (name.startsWith("_") && dirname(target) !== dirname(file)) {
      wrong.push(`${file} imports ${target}`);
    }
  }
  assert.deepEqual(wrong, []);
});

Deno.test("no module is a dead file: every one is reached from a door or a test", async () => {
  const files = (await sourceFiles(root)).filter((file) => !isTestFile(file));
  const reached = new Set((await importsOf(root)).map(({ target }) => target));
  const doors = new Set(await entryPoints());
  const dead = files.filter((file) => !reached.has(file) && !doors.has(file));
  assert.deepEqual(dead, []);
});

async function entryPoints(): Promise<string[]> {
  const config = JSON.parse(await Deno.readTextFile(join(root, "deno.json")));
  const doors = Object.values<string>(config.exports);
  const tasks: string = JSON.stringify(config.tasks ?? {});
  const run = [...tasks.matchAll(/[\w/]+\.ts/g)].map(([path]) => path);
  return [...doors.map((door) => door.replace(/^\.\//, "")), ...run];
}

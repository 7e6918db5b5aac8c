import assert from "node:assert/strict";
import { dirname, join } from "node:path/posix";
import { modulesOf } from "../kit/architecture.ts";
import { importsOf } from "../kit/imports.ts";
import { isTestFile, moduleOf, sourceFiles } from "../kit/source_files.ts";

const root = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");

const modules = modulesOf(await Deno.readTextFile(`${root}/ARCHITECTURE.md`));

Deno.test("every module has its row in the table of ARCHITECTURE.md, and names only modules above it", async () => {
  const names = modules.map(({ name }) => name);
  const published = (await sourceFiles(root)).filter((file) =>
    !isTestFile(file)
  );
  assert.deepEqual(
    [...new Set(published.map(moduleOf))].sort(),
    [
      ...names,
    ].sort(),
  );
  for (const [at, { name, imports }] of modules.entries()) {
    const above = names.slice(0, at);
    assert.deepEqual(imports.filter((one) => !above.includes(one)), [], name);
  }
});

Deno.test("modules import only what the table of ARCHITECTURE.md allows", async () => {
  const allowed = new Map(modules.map(({ name, imports }) => [name, imports]));
  const wrong: string[] = [];
  for (const { file, target, imported } of await importsOf(root)) {
    const [from, to] = [moduleOf(file), moduleOf(target)];
    if (!imported || from === to || isTestFile(file)) continue;
    if (!allowed.get(from)?.includes(to)) {
      wrong.push(`${file} imports ${target}`);
    }
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

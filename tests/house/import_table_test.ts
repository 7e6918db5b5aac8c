import assert from "node:assert/strict";
import { dirname, join } from "node:path/posix";
import { importsOf } from "../kit/imports.ts";
import { isTestFile, sourceFiles } from "../kit/source_files.ts";

const root = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");

/** What each module may import of ours, besides itself. */
const MAY_IMPORT: Record<string, (target: string) => boolean> = {
  core: () => false,
  client: isCore,
  webhooks: isCore,
  ledger: isCore,
  widget: isCore,
  sandbox: isCore,
  cli: () => true,
};

Deno.test("modules import only what the import table allows", async () => {
  const wrong: string[] = [];
  for (const { file, target } of await importsOf(root)) {
    const from = file.split("/")[0] ?? "";
    const to = target.split("/")[0] ?? "";
    const allowed = MAY_IMPORT[from];
    if (allowed === undefined || from === to || isTestFile(file)) continue;
    if (!allowed(target)) wrong.push(`${file} imports ${target}`);
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

function isCore(target: string): boolean {
  return target.startsWith("core/");
}

async function entryPoints(): Promise<string[]> {
  const config = JSON.parse(await Deno.readTextFile(join(root, "deno.json")));
  const doors = Object.values<string>(config.exports);
  const tasks: string = JSON.stringify(config.tasks ?? {});
  const run = [...tasks.matchAll(/[\w/]+\.ts/g)].map(([path]) => path);
  return [...doors.map((door) => door.replace(/^\.\//, "")), ...run];
}

import assert from "node:assert/strict";
import { dirname, join, relative } from "node:path/posix";
import { isTestFile, sourceFiles } from "./_source_files.ts";

const root = new URL("..", import.meta.url).pathname.replace(/\/$/, "");

/** What each module may import of ours, besides itself. */
const MAY_IMPORT: Record<string, (target: string) => boolean> = {
  client: () => false,
  webhooks: () => false,
  ledger: (target) => /^(client|webhooks)\//.test(target),
  widget: (target) => target === "client/assets.ts",
  sandbox: (target) => /^(client|webhooks)\//.test(target),
  cli: () => true,
};

Deno.test("modules import only what the import table allows", async () => {
  const wrong: string[] = [];
  for (const { file, target } of await imports()) {
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
  for (const { file, target } of await imports()) {
    const name = target.split("/").at(-1) ?? "";
    if (name.startsWith("_") && dirname(target) !== dirname(file)) {
      wrong.push(`${file} imports ${target}`);
    }
  }
  assert.deepEqual(wrong, []);
});

Deno.test("no module is a dead file: every one is reached from a door or a test", async () => {
  const files = (await sourceFiles(root)).filter((file) => !isTestFile(file));
  const reached = new Set((await imports()).map(({ target }) => target));
  const doors = new Set(await entryPoints());
  const dead = files.filter((file) => !reached.has(file) && !doors.has(file));
  assert.deepEqual(dead, []);
});

async function imports(): Promise<{ file: string; target: string }[]> {
  const found: { file: string; target: string }[] = [];
  for (const file of await sourceFiles(root)) {
    const text = await Deno.readTextFile(join(root, file));
    // Examples in comments speak to users by package name, not by path.
    const code = text.replace(/\/\*[\s\S]*?\*\//g, "").replace(
      /^\s*\/\/.*$/gm,
      "",
    );
    const specifiers = code.matchAll(
      /(?:\bfrom\s*|\bimport\s*\(?\s*|new URL\(\s*|import\.meta\.resolve\(\s*)"(\.{1,2}\/[^"]+\.ts)"/g,
    );
    for (const [, specifier] of specifiers) {
      if (specifier === undefined) continue;
      const target = relative(root, join(root, dirname(file), specifier));
      found.push({ file, target });
    }
  }
  return found;
}

async function entryPoints(): Promise<string[]> {
  const config = JSON.parse(await Deno.readTextFile(join(root, "deno.json")));
  const doors = Object.values<string>(config.exports);
  const tasks: string = JSON.stringify(config.tasks ?? {});
  const run = [...tasks.matchAll(/[\w/]+\.ts/g)].map(([path]) => path);
  return [...doors.map((door) => door.replace(/^\.\//, "")), ...run];
}

import assert from "node:assert/strict";
import { dirname } from "node:path/posix";
import { importsOf } from "../kit/imports.ts";
import { isTestFile, moduleOf } from "../kit/source_files.ts";

const root = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");

Deno.test("no two folders import each other, nor in a circle, at any depth", async () => {
  assert.deepEqual(circlesOf(await folderImports()), []);
});

Deno.test("circlesOf() finds a circle at any depth, and no way that is none", () => {
  const imports = new Map([
    ["a", new Set(["a/one"])],
    ["a/one", new Set(["a/one/deep", "b"])],
    ["a/one/deep", new Set(["a"])],
    ["b", new Set(["c"])],
  ]);
  assert.deepEqual(circlesOf(imports), ["a > a/one > a/one/deep > a"]);
});

/** Which folders each folder imports, types included, tests not. */
async function folderImports(): Promise<Map<string, Set<string>>> {
  const imports = new Map<string, Set<string>>();
  for (const { file, target, imported } of await importsOf(root)) {
    if (!imported || isTestFile(file) || isTestFile(target)) continue;
    const [from, to] = [dirname(file), dirname(target)];
    if (from === to) continue;
    imports.set(from, (imports.get(from) ?? new Set()).add(to));
  }
  assert.ok(new Set([...imports.keys()].map(moduleOf)).size > 8);
  return imports;
}

function circlesOf(
  imports: ReadonlyMap<string, ReadonlySet<string>>,
): string[] {
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (folder: string, path: readonly string[]): void => {
    if (path.includes(folder)) {
      circles.push([...path.slice(path.indexOf(folder)), folder].join(" > "));
    } else if (!done.has(folder)) {
      for (const next of imports.get(folder) ?? []) {
        visit(next, [...path, folder]);
      }
      done.add(folder);
    }
  };
  for (const folder of imports.keys()) visit(folder, []);
  return circles;
}

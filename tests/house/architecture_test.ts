import assert from "node:assert/strict";
import { dirname } from "node:path/posix";
import { foldersOf } from "../kit/architecture.ts";
import { isTestFile, sourceFiles } from "../kit/source_files.ts";

const root = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");

Deno.test("ARCHITECTURE.md names files and folders that exist", async () => {
  const text = await Deno.readTextFile(`${root}/ARCHITECTURE.md`);
  const paths = [...text.matchAll(/`((?:[a-z_]+\/)+(?:\w+\.ts)?)`/g)]
    .map(([, path = ""]) => path);
  assert.ok(paths.length > 40);
  const missing: string[] = [];
  for (const path of new Set(paths)) {
    await Deno.stat(`${root}/${path}`).catch(() => missing.push(path));
  }
  assert.deepEqual(missing, []);
});

Deno.test("the tree of ARCHITECTURE.md has a line for every folder of the code, and for no other", async () => {
  const text = await Deno.readTextFile(`${root}/ARCHITECTURE.md`);
  const told = new Set(foldersOf(text));
  const files = await sourceFiles(root);
  const published = new Set(
    files.filter((file) => !isTestFile(file)).map(dirname),
  );
  published.delete(".");
  assert.deepEqual([...published].filter((folder) => !told.has(folder)), []);
  for (const folder of told) await Deno.stat(`${root}/${folder}`);
});

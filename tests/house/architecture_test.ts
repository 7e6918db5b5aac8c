import assert from "node:assert/strict";
import { dirname } from "node:path/posix";
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

Deno.test("ARCHITECTURE.md has a line for every folder of the code", async () => {
  const text = await Deno.readTextFile(`${root}/ARCHITECTURE.md`);
  const tree = text.split("```")[1] ?? "";
  const folders = new Set(
    (await sourceFiles(root)).filter((file) => !isTestFile(file)).map(dirname),
  );
  const untold = [...folders].filter((folder) => {
    const [top = "", second] = folder.split("/");
    return !tree.includes(`${top}/`) && folder !== "." ||
      second !== undefined && !tree.includes(`${second}/`);
  });
  assert.deepEqual(untold, []);
});

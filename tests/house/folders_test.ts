import assert from "node:assert/strict";
import { dirname } from "node:path/posix";
import { sourceFiles } from "../kit/source_files.ts";

const root = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");

/** A page lists about this many files; more is a missing subject. */
const FILES_OF_A_FOLDER = 28;

Deno.test("a folder holds what a page can list", async () => {
  const folders = Map.groupBy(await sourceFiles(root), dirname);
  const crowded = [...folders].filter(([, files]) =>
    files.length > FILES_OF_A_FOLDER
  ).map(([folder, files]) => `${folder} holds ${files.length} files`);
  assert.deepEqual(crowded, []);
});

import assert from "node:assert/strict";
import { dirname } from "node:path/posix";
import { sourceFiles } from "../kit/source_files.ts";

const root = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");

/**
 * A page lists about this many files; more is a missing subject. A test stands
 * beside its file, and is not counted.
 */
const FILES_OF_A_FOLDER = 26;

Deno.test("a folder holds what a page can list", async () => {
  const files = await sourceFiles(root);
  const shown = files.filter((file) => !/_(test|bench)\.ts$/.test(file));
  const crowded = [...Map.groupBy(shown, dirname)]
    .filter(([, files]) => files.length > FILES_OF_A_FOLDER)
    .map(([folder, files]) => `${folder} holds ${files.length} files`);
  assert.deepEqual(crowded, []);
});

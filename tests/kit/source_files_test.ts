import assert from "node:assert/strict";
import { isTestFile, moduleOf, sourceFiles } from "./source_files.ts";
import { temporaryFolder } from "./temporary_folder.ts";

Deno.test("sourceFiles() finds the files of a folder that nobody has named", async () => {
  await using folder = await temporaryFolder();
  for (const path of ["new/deep", "node_modules/zod", ".git/hooks"]) {
    await Deno.mkdir(`${folder.path}/${path}`, { recursive: true });
    await Deno.writeTextFile(`${folder.path}/${path}/file.ts`, "");
  }
  await Deno.writeTextFile(`${folder.path}/mod.ts`, "");
  await Deno.writeTextFile(`${folder.path}/page.css`, "");
  assert.deepEqual(await sourceFiles(folder.path), [
    "mod.ts",
    "new/deep/file.ts",
  ]);
});

Deno.test("isTestFile() tells what is published from tests, their kits and the folders that are not published", () => {
  const tests = [
    "core/decimal_test.ts",
    "core/json/read_bench.ts",
    "ledger/testing/test_databases.ts",
    "tests/kit/until.ts",
    "tools/run_tests.ts",
  ];
  assert.deepEqual(tests.filter((file) => !isTestFile(file)), []);
  const published = ["mod.ts", "core/decimal.ts", "sandbox/latest.ts"];
  assert.deepEqual(published.filter(isTestFile), []);
});

Deno.test("moduleOf() is the folder at the top, or the file there", () => {
  assert.deepEqual(["core/json/exact.ts", "mod.ts"].map(moduleOf), [
    "core",
    "mod.ts",
  ]);
});

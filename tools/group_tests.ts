/**
 * Puts tests together, so that a group loads the modules that its files share
 * once. A group is a file that imports them, so each of them stays as it is,
 * runs alone as well, and is named where it fails.
 *
 * @module
 */
import {
  isTestFile,
  moduleOf,
  projectFiles,
  sourceFiles,
} from "../tests/kit/source_files.ts";
import { examplesOf, exampleTest, exportsOf } from "./example_tests.ts";

/** Files in a group: enough to share modules, few enough to share processors. */
const FILES_IN_A_GROUP = 20;

/** Tests that run whole seeds, in threads of their own: a group by themselves. */
const SEEDS = /^tests\/sim\//;

/** Files of tests by the name of their group: `ledger_1` for one. */
export type TestGroups = ReadonlyMap<string, readonly string[]>;

/** Groups the tests of each module, those of the largest module first. */
export async function groupTests(
  root: string,
  isLeftOut: (file: string) => boolean,
): Promise<TestGroups> {
  const files = (await sourceFiles(root)).filter((file) =>
    isTestFile(file) && file.endsWith("_test.ts") && !isLeftOut(file)
  );
  const groups = new Map<string, string[]>();
  const modules = [
    ...Map.groupBy(
      files,
      (file) => SEEDS.test(file) ? "seeds" : moduleOf(file),
    ),
  ].sort(([, a], [, b]) => b.length - a.length);
  for (const [module, ofModule] of modules) {
    const count = Math.ceil(ofModule.length / FILES_IN_A_GROUP);
    // Dealt out in turn, so that neighbours that are slow alike are apart.
    ofModule.forEach((file, at) => {
      const name = `${module}_${at % count + 1}`;
      groups.set(name, [...groups.get(name) ?? [], file]);
    });
  }
  return groups;
}

/** Writes a file for each group. */
export async function writeGroups(
  groups: TestGroups,
  root: string,
  folder: string,
): Promise<string[]> {
  const written: string[] = [];
  for (const [name, files] of groups) {
    const paths = files.map((file) => `${root}/${file}`);
    written.push(await writeGroup(`${folder}/${name}_test.ts`, paths));
  }
  return written;
}

/** Writes a file for all examples of comments and pages. */
export async function writeExamples(
  root: string,
  folder: string,
): Promise<string> {
  const written: string[] = [];
  for (const file of await projectFiles(root)) {
    if (!/\.(ts|md)$/.test(file)) continue;
    const text = await Deno.readTextFile(`${root}/${file}`);
    const place = { root, file, exported: exportsOf(text) };
    for (const example of examplesOf(text)) {
      const name = `${file.replace(/\W/g, "_")}_${example.line}`;
      const path = `${folder}/${name}.ts`;
      await Deno.writeTextFile(path, exampleTest(example, place));
      written.push(path);
    }
  }
  return await writeGroup(`${folder}/examples_test.ts`, written);
}

async function writeGroup(
  path: string,
  files: readonly string[],
): Promise<string> {
  const imports = files.map((file) => `import "file://${file}";\n`);
  await Deno.writeTextFile(path, imports.join(""));
  return path;
}

/**
 * Puts unit tests together, so that a group loads the modules that its files
 * share once. A group is a file that imports them, so each of them stays as it
 * is, runs alone as well, and is named where it fails.
 *
 * @module
 */
import {
  isTestFile,
  moduleOf,
  sourceFiles,
} from "../tests/kit/source_files.ts";

/** Files in a group: enough to share modules, few enough to share processors. */
const FILES_IN_A_GROUP = 20;

/** Tests of what no module can show alone: processes, browsers, whole seeds. */
const ALONE = /^(tests|bench|tools)\//;

/** The files that are put together, and how. */
export interface TestGroups {
  /** Files of tests by the name of their group: `ledger_1` for one. */
  readonly groups: ReadonlyMap<string, readonly string[]>;
  /** All of these files. */
  readonly files: readonly string[];
}

/** Groups the unit tests of each module, in the order of their paths. */
export async function groupTests(root: string): Promise<TestGroups> {
  const files = (await sourceFiles(root)).filter((file) =>
    isTestFile(file) && file.endsWith("_test.ts") && !ALONE.test(file)
  );
  const groups = new Map<string, string[]>();
  for (const [module, ofModule] of Map.groupBy(files, moduleOf)) {
    const count = Math.ceil(ofModule.length / FILES_IN_A_GROUP);
    // Dealt out in turn, so that neighbours that are slow alike are apart.
    ofModule.forEach((file, at) => {
      const name = `${module}_${at % count + 1}`;
      groups.set(name, [...groups.get(name) ?? [], file]);
    });
  }
  return { groups, files };
}

/**
 * Writes a file for each group.
 *
 * @param folder Where to: outside of the project.
 * @returns The files that were written.
 */
export async function writeGroups(
  { groups }: TestGroups,
  root: string,
  folder: string,
): Promise<string[]> {
  const written: string[] = [];
  for (const [name, files] of groups) {
    const path = `${folder}/${name}_test.ts`;
    const imports = files.map((file) => `import "file://${root}/${file}";\n`);
    await Deno.writeTextFile(path, imports.join(""));
    written.push(path);
  }
  return written;
}

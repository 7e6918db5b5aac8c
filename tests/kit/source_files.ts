import config from "../../deno.json" with { type: "json" };

/** Folders that are no part of the package: tests, tools, papers. */
const UNPUBLISHED = config.publish.exclude.filter((path) =>
  /^\w+(\/\w+)*$/.test(path)
);

/**
 * Every TypeScript file of the project, relative to `root`, sorted. The folders
 * are those that are there: a new one needs no entry anywhere.
 */
export async function sourceFiles(root: string): Promise<string[]> {
  return (await projectFiles(root)).filter((file) => file.endsWith(".ts"));
}

/** The same, and every other file. */
export async function projectFiles(root: string): Promise<string[]> {
  const files: string[] = [];
  await collect(root, "", files);
  return files.sort();
}

/** Whether a file is there for tests or benchmarks alone. */
export function isTestFile(file: string): boolean {
  return /(^|[/_])(test|bench)(_\w+)?\.ts$/.test(file) ||
    file.includes("/testing/") ||
    UNPUBLISHED.some((folder) => file.startsWith(`${folder}/`));
}

/** The module of a file: its folder at the top, or a file at the top itself. */
export function moduleOf(file: string): string {
  return file.split("/")[0] ?? "";
}

async function collect(
  root: string,
  folder: string,
  files: string[],
): Promise<void> {
  for await (const { name, isDirectory } of Deno.readDir(`${root}/${folder}`)) {
    if (name.startsWith(".") || name === "node_modules") continue;
    const path = folder === "" ? name : `${folder}/${name}`;
    if (isDirectory) await collect(root, path, files);
    else files.push(path);
  }
}

const FOLDERS = [
  "core",
  "client",
  "webhooks",
  "ledger",
  "widget",
  "sandbox",
  "cli",
  "tests",
  "tools",
  "bench",
];

/** Every TypeScript file of the project, relative to `root`, sorted. */
export async function sourceFiles(root: string): Promise<string[]> {
  const files = ["mod.ts"];
  for (const folder of FOLDERS) await collect(root, folder, files);
  return files.sort();
}

/** Whether a file is there for tests or benchmarks alone. */
export function isTestFile(file: string): boolean {
  return /(^|[/_])(test|bench)(_\w+)?\.ts$/.test(file) ||
    /^(tests|tools|bench)\/|\/testing\//.test(file);
}

async function collect(
  root: string,
  folder: string,
  files: string[],
): Promise<void> {
  for (const entry of await entriesOf(`${root}/${folder}`)) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory) await collect(root, path, files);
    else if (entry.name.endsWith(".ts")) files.push(path);
  }
}

async function entriesOf(folder: string): Promise<Deno.DirEntry[]> {
  try {
    return await Array.fromAsync(Deno.readDir(folder));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

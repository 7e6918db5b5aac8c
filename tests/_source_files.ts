const FOLDERS = [
  "client",
  "webhooks",
  "ledger",
  "widget",
  "sandbox",
  "cli",
  "tests",
  "tools",
];

/** Every TypeScript file of the project, relative to `root`, sorted. */
export async function sourceFiles(root: string): Promise<string[]> {
  const files = ["mod.ts"];
  for (const folder of FOLDERS) await collect(root, folder, files);
  return files.sort();
}

/** Whether a file is there for tests or benchmarks alone. */
export function isTestFile(file: string): boolean {
  return /_(test|bench)\.ts$/.test(file) || file.startsWith("tests/");
}

async function collect(
  root: string,
  folder: string,
  files: string[],
): Promise<void> {
  for await (const entry of Deno.readDir(`${root}/${folder}`)) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory) await collect(root, path, files);
    else if (entry.name.endsWith(".ts")) files.push(path);
  }
}

import { dirname, join, relative } from "node:path/posix";
import { sourceFiles } from "./source_files.ts";

/** One import of one of our files by another. */
export interface FileImport {
  readonly file: string;
  readonly target: string;
  /** False where the file is only named by its address, for a process or a thread. */
  readonly imported: boolean;
}

/** Every import of ours by ours, types included, relative to `root`. */
export async function importsOf(root: string): Promise<FileImport[]> {
  const found: FileImport[] = [];
  for (const file of await sourceFiles(root)) {
    const text = await Deno.readTextFile(join(root, file));
    // Examples in comments speak to users by package name, not by path.
    const code = text.replace(/\/\*[\s\S]*?\*\//g, "").replace(
      /^\s*\/\/.*$/gm,
      "",
    );
    const specifiers = code.matchAll(
      /(\bfrom\s*|\bimport\s*\(?\s*|new URL\(\s*|import\.meta\.resolve\(\s*)"(\.{1,2}\/[^"]+\.ts)"/g,
    );
    for (const [, how = "", specifier] of specifiers) {
      if (specifier === undefined) continue;
      const target = relative(root, join(root, dirname(file), specifier));
      const imported = /^(?:from|import\b(?!\.))/.test(how);
      found.push({ file, target, imported });
    }
  }
  return found;
}

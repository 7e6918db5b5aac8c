import { dirname, join } from "node:path/posix";
import { importsOf } from "../../tests/kit/imports.ts";

/** Runs in Deno alone, and is not packed. */
const DENO_ONLY = /^server\/deploy\.ts$/;

/** What the program only names: simulator and benchmark. */
const CHECKOUT_ONLY = /^(?:tests|tools)\//;

/** Stands for the entry of Deno Deploy, and refuses. */
export const DEPLOY_FILE = "deploy_elsewhere.js";

/** The program that the package installs. */
export const PROGRAM = "cli/main.ts";

/** The same, as it is packed. */
export const PROGRAM_FILE: string = PROGRAM.replace(/\.ts$/, ".js");

/** Every file of ours that doors and program lead to. */
export async function packedFiles(
  root: string,
  exports: Readonly<Record<string, string>>,
): Promise<{ files: string[]; doors: Map<string, string> }> {
  const doors = new Map(
    Object.entries(exports)
      .map(([door, path]) => [door, path.replace(/^\.\//, "")] as const)
      .filter(([, path]) => !DENO_ONLY.test(path)),
  );
  const imports = await importsOf(root);
  const found = new Set([...doors.values(), PROGRAM]);
  for (const file of found) { // Those that are added meanwhile come as well.
    for (const { file: from, target } of imports) {
      if (from !== file || DENO_ONLY.test(target)) continue;
      if (!CHECKOUT_ONLY.test(target)) found.add(target);
    }
  }
  return { files: [...found].sort(), doors };
}

/** A link of a page to another file of ours, or a picture. */
const LINK = /\]\((?!https?:|#)([^)#\s]+)/g;

/**
 * The pages that README leads to, directly or through others, and what they
 * show: they go along with a package, so that no link of it leads nowhere.
 */
export async function pages(root: string): Promise<string[]> {
  const found = new Set(["README.md"]);
  for (const page of found) { // Those that are added meanwhile come as well.
    if (!page.endsWith(".md")) continue;
    const text = await Deno.readTextFile(`${root}/${page}`);
    for (const [, target = ""] of text.matchAll(LINK)) {
      const path = join(dirname(page), target);
      if (/\.(md|webp|svg)$/.test(path)) found.add(path);
    }
  }
  return [...found].sort();
}

import { dirname, join } from "node:path/posix";

/** A link of a page to another file of ours, or a picture. */
const LINK = /\]\((?!https?:|#)([^)#\s]+)/g;

/**
 * The pages that README leads to, directly or through others, and what they
 * show: they go along with a package, so that no link of it leads nowhere.
 *
 * @returns Paths in the project, sorted.
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

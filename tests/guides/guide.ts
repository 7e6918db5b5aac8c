import { dirname } from "node:path/posix";

const root = new URL("../..", import.meta.url).pathname;

/** What a page of `guides/` holds. */
export interface Guide {
  /** Text of each file by its path. */
  readonly files: ReadonlyMap<string, string>;
  /** The packages that it installs besides ours. */
  readonly packages: readonly string[];
}

const FILE = /<!-- file: (\S+) -->\n\n```\w+[^\n]*\n([^]*?)```/g;
const INSTALL = /<!-- install: ([^\n]+) -->/;

/** Reads the files and packages of a page, as they stand there. */
export async function readGuide(page: string): Promise<Guide> {
  const text = await Deno.readTextFile(`${root}${page}`);
  const files = [...text.matchAll(FILE)].map(
    ([, path = "", content = ""]) => [path, content] as const,
  );
  if (files.length === 0) throw new Error(`No file in ${page}`);
  const packages = INSTALL.exec(text)?.[1]?.split(" ") ?? [];
  return { files: new Map(files), packages };
}

/** Writes the files of a page into a folder. */
export async function writeGuide(
  { files }: Guide,
  folder: string,
): Promise<void> {
  for (const [path, content] of files) {
    await Deno.mkdir(dirname(`${folder}/${path}`), { recursive: true });
    await Deno.writeTextFile(`${folder}/${path}`, content);
  }
}

import { dirname } from "node:path/posix";

const root = new URL("../..", import.meta.url).pathname;

/** What a page holds for its reader to write and to run. */
export interface Guide {
  /** Text of each file by its path. */
  readonly files: ReadonlyMap<string, string>;
  /** Command lines of the page, in order, without comments. */
  readonly commands: readonly string[];
}

const FILE = /<!-- file: (\S+) -->\n\n```\w+[^\n]*\n([^]*?)```/g;
const SHELL = /^ *```sh\n([^]*?)^ *```/gm;

/** Reads the files and commands of a page, as they stand there. */
export async function readGuide(page: string): Promise<Guide> {
  const text = await Deno.readTextFile(`${root}${page}`);
  const files = [...text.matchAll(FILE)].map(
    ([, path = "", content = ""]) => [path, content] as const,
  );
  const commands = [...text.matchAll(SHELL)]
    .flatMap(([, block = ""]) => block.split("\n"))
    .map((line) => line.replace(/(?:^|\s+)# .*$/, "").trim())
    .filter((line) => line !== "");
  return { files: new Map(files), commands };
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

import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { messageOf } from "../../core/guards.ts";
import { CommandError } from "../../core/settings/errors.ts";

/** Says in the folder which demo made the ledger there. */
const MARK = "made-by-demo.txt";

/** Where a demo puts its ledger. */
export interface DemoFolder {
  /** The folder; it is made where it is missing. */
  readonly folder: string;
  /** Which demo: only a ledger of the same one is replaced unasked. */
  readonly made: "demo" | "demo --browser";
  /** Replaces whatever ledger is there. */
  readonly fresh: boolean;
  /** Called before an earlier ledger is deleted. */
  readonly onReplace: (text: string) => void;
}

/**
 * Makes room for the ledger of a demo.
 *
 * @returns Address of its database.
 * @throws {CommandError} When a ledger is there that this demo did not make.
 */
export async function freshLedger(
  { folder, made, fresh, onReplace }: DemoFolder,
): Promise<string> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    throw new CommandError(
      `Cannot make the folder ${folder}: ${messageOf(error)}`,
    );
  }
  const names = await readdir(folder);
  const mark = `${folder}/${MARK}`;
  if (names.includes("ledger.db")) {
    const maker = names.includes(MARK)
      ? (await readFile(mark, "utf8")).trim()
      : null;
    if (maker !== made && !fresh) {
      throw new CommandError(
        `Cannot use the folder ${folder}: it holds a ledger of ` +
          `${maker === null ? "another program" : `\`${maker}\``}; name ` +
          "another with --folder, or have it deleted with --fresh",
      );
    }
    onReplace(`Replacing the ledger of an earlier run: ${folder}/ledger.db`);
  }
  // Beside the file lie its log, its spool and whatever else belongs to it.
  for (const name of names.filter((name) => name.startsWith("ledger.db"))) {
    await rm(`${folder}/${name}`, { recursive: true });
  }
  await writeFile(mark, `${made}\n`);
  return `file:${folder}/ledger.db`;
}

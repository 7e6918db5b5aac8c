import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { messageOf } from "../../core/guards.ts";
import { CommandError } from "../../core/settings/errors.ts";

/** Says in the folder that a demo made the ledger there. */
const MARK = "made-by-demo.txt";

/** Where a demo puts its ledger. */
export interface DemoFolder {
  /** The folder; it is made where it is missing. */
  readonly folder: string;
  /** Replaces whatever ledger is there. */
  readonly fresh: boolean;
  /** Called before an earlier ledger is deleted. */
  readonly onReplace: (text: string) => void;
}

/**
 * Makes room for the ledger of a demo.
 *
 * @throws {CommandError} When a ledger is there that no demo made.
 */
export async function freshLedger(
  { folder, fresh, onReplace }: DemoFolder,
): Promise<string> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    throw new CommandError(
      `Cannot make the folder ${folder}: ${messageOf(error)}`,
    );
  }
  const names = await readdir(folder);
  if (names.includes("ledger.db")) {
    if (!names.includes(MARK) && !fresh) {
      throw new CommandError(
        `Cannot use the folder ${folder}: it holds a ledger of ` +
          "another program; name another with --folder, or have it deleted " +
          "with --fresh",
      );
    }
    onReplace(`Replacing the ledger of an earlier run: ${folder}/ledger.db`);
  }
  // Beside the file lie its log, its spool and whatever else belongs to it.
  for (const name of names.filter((name) => name.startsWith("ledger.db"))) {
    await rm(`${folder}/${name}`, { recursive: true });
  }
  await writeFile(`${folder}/${MARK}`, "demo\n");
  return `file:${folder}/ledger.db`;
}

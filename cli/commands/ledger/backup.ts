import type { Command } from "commander";
import { backUp } from "../../ledger_file/backup.ts";
import { holdLedger } from "../../../server/ledger_file/ledger_lock.ts";
import type { Cli } from "../../program/cli.ts";
import { readConfig } from "../../../settings/config.ts";
import { jsonLine, line, lines } from "../../program/io.ts";
import {
  jsonOption,
  ledgerOptions,
  type SharedFlags,
} from "../../program/options.ts";
import { requireStored } from "../../program/with_ledger.ts";
import { shellWord } from "../../../resources/views/shell_word.ts";

/** Where the copy of the ledger is. */
export interface Backup {
  /** Path of the copy. */
  readonly file: string;
}

/** `ledger backup`. */
export function addBackup(ledger: Command, cli: Cli): void {
  const command = ledger.command("backup").argument(
    "<file>",
    "file to write; it must not exist",
  ).description("copy a ledger while it is in use");
  jsonOption(ledgerOptions(command), "one object")
    .addHelpText(
      "after",
      "\nExample:\n  rampkit ledger backup rampkit-2026-11-20.db",
    )
    .action(cli.run(async (file: string, flags: SharedFlags) => {
      const config = readConfig(cli.io.env, flags);
      // A lock beside a ledger that is not there would be left behind.
      await requireStored(config);
      using _held = await holdLedger(config);
      await backUp(cli.io, config, { file, json: flags.json ?? false });
      if (flags.json) jsonLine<Backup>(cli.io, { file });
      else {
        line(cli.io, `Copied to ${file}; check the copy with:`);
        lines(cli.io, [
          `  rampkit ledger verify --database-url ${shellWord(`file:${file}`)}`,
        ]);
      }
    }));
}

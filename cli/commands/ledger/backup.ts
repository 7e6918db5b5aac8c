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
import { restore } from "../../ledger_file/restore.ts";
import { stoppable } from "../../../settings/stoppable.ts";
import { counted } from "../../../resources/views/text.ts";

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

/** `ledger restore`. */
export function addRestore(ledger: Command, cli: Cli): void {
  const command = ledger.command("restore").argument(
    "<file>",
    "what `ledger backup` wrote, or another copy of a closed ledger",
  ).description(
    "replace the ledger with a copy, and keep the old file",
  );
  jsonOption(ledgerOptions(command), "one object")
    .addHelpText(
      "after",
      "\nStop serve first. The copy is verified before it is used.\n\nExample:\n  rampkit ledger restore rampkit-2026-11-20.db",
    )
    .action(cli.run(async (file: string, flags: SharedFlags) => {
      const { io } = cli;
      const restored = await stoppable(
        io.signal,
        () => restore(io, flags, file),
        () => "the ledger is as it was",
      );
      if (flags.json) return jsonLine(io, restored);
      const { previousFile, environment, events } = restored;
      line(
        io,
        `Restored ${restored.file}: ${
          counted(events, "event")
        }, environment ${environment}`,
      );
      if (previousFile !== null) line(io, `The old ledger is ${previousFile}`);
      line(io, "Start serve, then read again what came since the copy:");
      line(io, "  rampkit recover --from WHEN-IT-WAS-COPIED");
    }));
}

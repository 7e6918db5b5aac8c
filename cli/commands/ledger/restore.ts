import type { Command } from "commander";
import { restore } from "../../ledger_file/restore.ts";
import type { Cli } from "../../program/cli.ts";
import { jsonLine, line } from "../../program/io.ts";
import {
  jsonOption,
  ledgerOptions,
  type SharedFlags,
} from "../../program/options.ts";
import { stoppable } from "../../../settings/stoppable.ts";
import { counted } from "../../../resources/views/counted.ts";

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

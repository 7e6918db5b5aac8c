import type { Command } from "commander";
import type { Cli } from "../../program/cli.ts";
import { EXIT } from "../../../settings/errors.ts";
import { type Io, jsonLine, line } from "../../program/io.ts";
import {
  jsonOption,
  ledgerOptions,
  type SharedFlags,
} from "../../program/options.ts";
import { stoppable } from "../../../settings/stoppable.ts";
import { upToDate, withReadLedger } from "../../program/with_ledger.ts";
import { progress } from "../../program/progress.ts";

interface RefoldFlags extends SharedFlags {
  readonly dryRun?: boolean;
}

/** `ledger refold`. */
export function addRefold(ledger: Command, cli: Cli): void {
  const command = ledger.command("refold").description(
    "fold all events again from the start, then swap the states in at once",
  );
  jsonOption(ledgerOptions(command), "one object")
    .option("--dry-run", "say which states would change, and change nothing")
    .addHelpText(
      "after",
      "\nExit code 3 when a dry run finds states that would change.\n\nExample:\n  rampkit ledger refold --dry-run",
    )
    .action(cli.run((flags: RefoldFlags) => refold(cli.io, flags)));
}

async function refold(io: Io, flags: RefoldFlags): Promise<number> {
  const dryRun = flags.dryRun ?? false;
  return await withReadLedger(io, flags, async (ledger) => {
    const { signal } = io;
    const result = await stoppable(
      signal,
      async () => {
        // Folding what waits would swap the states of an older version first.
        const { position } = await ledger.stats();
        using bar = progress(io, "events folded", !flags.json, position);
        const result = await ledger.refold({
          dryRun,
          signal,
          onProgress: ({ position }) => bar.at(position),
        });
        bar.end();
        if (!dryRun) await upToDate(ledger, io);
        return result;
      },
      () =>
        dryRun
          ? "the states are as they were"
          : "readers see whole states, as ever; run it again and it goes on " +
            "where it stopped",
    );
    if (flags.json) jsonLine(io, result);
    else {
      line(
        io,
        `${dryRun ? "Would fold" : "Folded"} ${result.events} events; ` +
          `${result.changed} orders and users ${
            dryRun ? "would change" : "changed"
          }`,
      );
      for (const change of result.changes) {
        line(io, `  ${change.entity} ${change.id}`);
        for (const { field, before, after } of change.fields) {
          const [was, is] = [JSON.stringify(before), JSON.stringify(after)];
          line(io, `    ${field}: ${was} -> ${is}`, 6);
        }
      }
      const more = result.changed - result.changes.length;
      if (more > 0) line(io, `  and ${more} more`);
    }
    return dryRun && result.changed > 0 ? EXIT.disagreement : EXIT.fine;
  });
}

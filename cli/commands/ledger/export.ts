import type { Command } from "commander";
import type { Cli } from "../../program/cli.ts";
import { type Io, note } from "../../program/io.ts";
import {
  ledgerOptions,
  outputOption,
  type SharedFlags,
} from "../../program/options.ts";
import { stoppable, untilStopped } from "../../../settings/stoppable.ts";
import { withStoredLedger } from "../../program/with_ledger.ts";
import { openOutput } from "../../program/output.ts";

/** How a line about an erasure begins; it is no event. */
const ERASURE_LINE = `{"erasure":`;

interface ExportFlags extends SharedFlags {
  readonly output?: string;
}

/** `ledger export`. */
export function addExport(ledger: Command, cli: Cli): void {
  outputOption(ledgerOptions(
    ledger.command("export").description(
      "write every event as NDJSON; importing it gives the same ledger",
    ),
  ))
    .addHelpText(
      "after",
      "\nExample:\n  rampkit ledger export --output events.ndjson",
    )
    .action(cli.run((flags: ExportFlags) => exportEvents(cli.io, flags)));
}

async function exportEvents(io: Io, flags: ExportFlags): Promise<void> {
  await withStoredLedger(io, flags, async (ledger) => {
    using output = openOutput(io, flags.output);
    // The first and the last line are not events.
    let lines = 0;
    const events = () => Math.max(lines - 1, 0);
    await stoppable(
      io.signal,
      async () => {
        for await (const text of untilStopped(ledger.export(), io.signal)) {
          output.write(`${text}\n`);
          if (!text.startsWith(ERASURE_LINE)) lines++;
        }
        output.finish();
      },
      () =>
        `after ${events()} events; ` +
        (flags.output === undefined
          ? "the output has no last line, so an import will say that it is cut"
          : `${flags.output} was not written`),
    );
    if (flags.output !== undefined) {
      note(io, `Wrote ${lines - 2} events to ${flags.output}`);
    }
  });
}

import type { Command } from "commander";
import type { Cli } from "../../program/cli.ts";
import { type Io, jsonLine, line, note } from "../../program/io.ts";
import {
  jsonOption,
  ledgerOptions,
  outputOption,
  type SharedFlags,
} from "../../program/options.ts";
import { stoppable, untilStopped } from "../../../settings/stoppable.ts";
import { openConfigured } from "../../../server/ledger_file/open_configured.ts";
import { withStoredLedger } from "../../program/with_ledger.ts";
import { openOutput } from "../../program/output.ts";
import { holdLedger } from "../../../server/ledger_file/ledger_lock.ts";
import { readConfig } from "../../../settings/config.ts";
import { openInput, textLines } from "../../program/input.ts";
import { counted } from "../../../resources/views/text.ts";
import { progress } from "../../program/progress.ts";

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

/** `ledger import`. */
export function addImport(ledger: Command, cli: Cli): void {
  const command = ledger.command("import").argument(
    "<file>",
    "what `ledger export` wrote, or - for standard input",
  ).description("append the events of an export, then fold and chain them");
  jsonOption(ledgerOptions(command), "one object")
    .addHelpText("after", "\nExample:\n  rampkit ledger import events.ndjson")
    .action(
      cli.run((file: string, flags: SharedFlags) =>
        importEvents(cli.io, file, flags)
      ),
    );
}

async function importEvents(
  io: Io,
  file: string,
  flags: SharedFlags,
): Promise<void> {
  const { signal } = io;
  const input = await openInput(file, signal);
  const config = readConfig(io.env, flags);
  using _held = await holdLedger(config);
  await using ledger = await openConfigured(config, io);
  const { position } = await ledger.stats();
  using bar = progress(io, "events read", !flags.json);
  let read = 0;
  const lines = async function* () {
    for await (const text of textLines(input)) {
      signal.throwIfAborted();
      yield text;
      bar.at(++read);
    }
  };
  let imported = false;
  const result = await stoppable(signal, async () => {
    const result = await ledger.import(lines());
    imported = true;
    bar.end();
    await ledger.project({ signal });
    return result;
  }, async () => {
    const after = (await ledger.stats()).position;
    return imported
      ? `all events are imported, ${await ledger
        .lag()} are not folded yet; ` +
        "the next command that reads goes on"
      : `${after - position} events are imported and stay; import the same ` +
        "file again for the others";
  });
  if (flags.json) jsonLine(io, result);
  else {
    line(
      io,
      `Imported ${
        counted(result.imported, "event")
      }; ${result.skipped} were there already`,
    );
  }
}

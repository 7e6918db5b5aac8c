import type { Command } from "commander";
import { holdLedger } from "../../../server/ledger_file/ledger_lock.ts";
import type { Cli } from "../../program/cli.ts";
import { readConfig } from "../../../settings/config.ts";
import { openInput } from "../../program/input.ts";
import { type Io, jsonLine, line } from "../../program/io.ts";
import {
  jsonOption,
  ledgerOptions,
  type SharedFlags,
} from "../../program/options.ts";
import { stoppable } from "../../../settings/stoppable.ts";
import { openConfigured } from "../../program/with_ledger.ts";
import { counted } from "../../../resources/views/counted.ts";
import { textLines } from "../../program/lines.ts";
import { progress } from "../../program/progress.ts";

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

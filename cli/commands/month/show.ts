import type { Command } from "commander";
import type { Ledger } from "../../../ledger/mod.ts";
import { fileText } from "../../../ledger/for_resources.ts";
import type { Cli } from "../../program/cli.ts";
import { CommandError, EXIT, UsageError } from "../../../settings/errors.ts";
import { type Io, jsonLine, lines, note } from "../../program/io.ts";
import {
  bomOption,
  jsonOption,
  ledgerOptions,
  outputOption,
  type SharedFlags,
} from "../../program/options.ts";
import { BYTE_ORDER_MARK, openOutput } from "../../program/output.ts";
import { stoppable } from "../../../settings/stoppable.ts";
import { upToDate, withReadLedger } from "../../program/with_ledger.ts";
import {
  monthJson,
  monthRecomputationJson,
  recomputationLines,
} from "../../../resources/views/month_view.ts";
import { progress } from "../../program/progress.ts";
import { MONTH, monthArgument } from "./month_argument.ts";

interface ShowFlags extends SharedFlags {
  readonly items?: boolean;
  readonly bom?: boolean;
  readonly output?: string;
  readonly recompute?: boolean;
}

/** `month show`. */
export function addShow(month: Command, cli: Cli): void {
  const command = month.command("show").argument(
    "<month>",
    MONTH,
    monthArgument,
  ).summary("show a closed month, byte for byte")
    .description(
      "print a closed month as it was stored, byte for byte: its summary, or " +
        "its items; with --recompute what another computation says, and what " +
        "became known since",
    );
  bomOption(outputOption(jsonOption(ledgerOptions(command), "one object")))
    .option("--items", "its items (CSV) instead of its summary (JSON)")
    .option(
      "--recompute",
      "work it out again: what differs (exit code 3), and what changed since",
    )
    .addHelpText(
      "after",
      "\nExample:\n  rampkit month show 2026-11\n" +
        "  rampkit month show 2026-11 --items --output november.csv\n" +
        "  rampkit month show 2026-11 --recompute",
    )
    .action(cli.run(async (month: string, flags: ShowFlags) => {
      const { io } = cli;
      if (flags.bom && !flags.items) {
        throw new UsageError("--bom is for a spreadsheet: add --items");
      }
      if (flags.json && flags.items) {
        throw new UsageError(
          "--items are CSV, and --json describes the month: leave one of them out",
        );
      }
      return await withReadLedger(
        io,
        flags,
        (ledger) =>
          flags.recompute
            ? recompute(ledger, io, month, flags)
            : print(ledger, io, month, flags),
      );
    }));
}

/** Prints what is stored, and nothing else: its bytes have the hash. */
async function print(
  ledger: Ledger,
  io: Io,
  month: string,
  flags: ShowFlags,
): Promise<number> {
  const close = await ledger.months.get(month);
  if (close === null) throw notClosed(month);
  if (flags.json) {
    jsonLine(io, monthJson(close));
    return EXIT.fine;
  }
  const name = flags.items ? "items.csv" : "summary.json";
  using output = openOutput(io, flags.output);
  if (flags.bom) output.write(BYTE_ORDER_MARK);
  output.write(fileText(close, name));
  output.finish();
  if (flags.output !== undefined) note(io, `Wrote ${name} to ${flags.output}`);
  return EXIT.fine;
}

async function recompute(
  ledger: Ledger,
  io: Io,
  month: string,
  flags: ShowFlags,
): Promise<number> {
  const found = await stoppable(
    io.signal,
    async () => {
      await upToDate(ledger, io);
      using bar = progress(io, "Orders", !flags.json);
      return await ledger.months.recompute(month, {
        signal: io.signal,
        onProgress: bar.at,
      });
    },
    () => `${month} was not compared; nothing was changed`,
  );
  if (found === null) throw notClosed(month);
  if (flags.json) jsonLine(io, monthRecomputationJson(found));
  else lines(io, recomputationLines(found, io.columns));
  return found.differences.length > 0 ? EXIT.disagreement : EXIT.fine;
}

function notClosed(month: string): CommandError {
  return new CommandError(
    `${month} is not closed; see which are with: rampkit month list`,
    "not_found",
  );
}

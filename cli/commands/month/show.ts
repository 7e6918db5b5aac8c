import { type Command, Option } from "commander";
import type { Ledger } from "../../../ledger/mod.ts";
import { readMonthBooks } from "../../../resources/months/month_books.ts";
import {
  MONTH_FILE_NAMES,
  MONTH_FILES,
  type MonthFileName,
  monthFileText,
} from "../../../resources/months/month_files.ts";
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
import { httpUrl } from "../../../settings/addresses.ts";
import { SETTINGS } from "../../../settings/settings.ts";
import { orderPath } from "../../../server/console/parts/order_table.ts";
import { stoppable } from "../../../settings/stoppable.ts";
import { upToDate, withReadLedger } from "../../program/with_ledger.ts";
import {
  monthDetailJson,
  monthLines,
  monthRecomputationJson,
  recomputationLines,
} from "../../../resources/views/month_view.ts";
import { progress } from "../../program/progress.ts";
import { MONTH_PARAM } from "../../../resources/operations/month_operations.ts";
import { lower } from "../../../resources/views/text.ts";

interface ShowFlags extends SharedFlags {
  readonly file?: MonthFileName;
  readonly consoleUrl: string;
  readonly bom?: boolean;
  readonly output?: string;
  readonly recompute?: boolean;
}

/** `month show`. */
export function addShow(month: Command, cli: Cli): void {
  const command = month.command("show").argument(
    "<month>",
    lower(MONTH_PARAM.description),
    (text: string) => MONTH_PARAM.read("<month>", text),
  ).summary("show the books of a month, closed or not, and write its files")
    .description(
      "show the books of a month: as it was closed, or as they are now; with " +
        "--file one of its files, with --recompute what another computation " +
        "of a closed month says, and what became known since",
    );
  bomOption(outputOption(jsonOption(ledgerOptions(command), "one object")))
    .addOption(
      new Option(
        "--file <name>",
        `print a file of it: ${
          MONTH_FILE_NAMES.map((name) => `${name} (${MONTH_FILES[name].means})`)
            .join(", ")
        }`,
      ).choices(MONTH_FILE_NAMES),
    )
    .option(
      "--console-url <url>",
      "where your console is, for the links of orders.csv",
      (text: string) => httpUrl("--console-url", text),
      `http://${SETTINGS.consoleHost.fallback}:${SETTINGS.console.fallback}`,
    )
    .option(
      "--recompute",
      "work it out again: what differs (exit code 3), and what changed since",
    )
    .addHelpText(
      "after",
      "\nExample:\n  rampkit month show 2026-11\n" +
        "  rampkit month show 2026-11 --file orders.csv --output november.csv\n" +
        "  rampkit month show 2026-11 --recompute",
    )
    .action(cli.run(async (month: string, flags: ShowFlags) => {
      const { io } = cli;
      if (flags.bom && !flags.file?.endsWith(".csv")) {
        throw new UsageError(
          "--bom is for a spreadsheet: add --file orders.csv or totals.csv",
        );
      }
      if (flags.json && flags.file !== undefined) {
        throw new UsageError(
          "--file prints a file, and --json describes the month: leave one of them out",
        );
      }
      if (flags.output !== undefined && flags.file === undefined) {
        throw new UsageError("--output writes a file of the month: add --file");
      }
      if (flags.recompute && flags.file !== undefined) {
        throw new UsageError(
          "--recompute compares, and --file prints a file: leave one of them out",
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

async function print(
  ledger: Ledger,
  io: Io,
  month: string,
  { file, json, output: path, bom, consoleUrl }: ShowFlags,
): Promise<number> {
  const books = await stoppable(
    io.signal,
    async () => {
      await upToDate(ledger, io);
      using bar = progress(io, "Orders", !json && file === undefined);
      const { signal } = io;
      return await readMonthBooks(ledger, month, {
        signal,
        onProgress: bar.at,
      });
    },
    () => `${month} was not worked out; nothing was changed`,
  );
  if (file === undefined) {
    const detail = monthDetailJson(books);
    if (json) jsonLine(io, detail);
    else lines(io, monthLines(detail, io.columns));
    return EXIT.fine;
  }
  // A stored file is written byte for byte, because its bytes have the hash.
  using output = openOutput(io, path);
  if (bom) output.write(BYTE_ORDER_MARK);
  for await (
    const text of monthFileText(file, books, {
      ledger,
      orderUrl: (orderId) => consoleUrl + orderPath(orderId),
    })
  ) output.write(text);
  output.finish();
  if (path !== undefined) note(io, `Wrote ${file} to ${path}`);
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

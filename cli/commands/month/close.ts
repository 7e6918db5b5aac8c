import { type Command, Option } from "commander";
import { defined } from "../../../core/guards.ts";
import { BOOK_BY } from "../../../ledger/for_cli.ts";
import { type BookBy, localDay } from "../../../ledger/for_resources.ts";
import { closedBooks } from "../../../resources/months/month_books.ts";
import { MONTH_FILE_NAMES } from "../../../resources/months/month_files.ts";
import { MONTH_PARAM } from "../../../resources/operations/month_operations.ts";
import { monthJson, monthLines } from "../../../resources/views/month_view.ts";
import { nextCommand } from "../../../resources/views/shell_word.ts";
import { lower } from "../../../resources/views/text.ts";
import {
  describeMonthRefusal,
  monthRefusalAdvice,
} from "../../../resources/wording/month.ts";
import { CommandError, UsageError } from "../../../settings/errors.ts";
import { stoppable } from "../../../settings/stoppable.ts";
import type { Cli } from "../../program/cli.ts";
import { confirmed, type Io, jsonLine, lines } from "../../program/io.ts";
import {
  jsonOption,
  ledgerOptions,
  type SharedFlags,
} from "../../program/options.ts";
import { progress } from "../../program/progress.ts";
import { upToDate, withLedger } from "../../program/with_ledger.ts";

interface CloseFlags extends SharedFlags {
  readonly tz?: string;
  readonly bookBy?: BookBy;
  readonly beforeEnd?: boolean;
  readonly yes?: true;
}

/** `month close`. */
export function addClose(month: Command, cli: Cli): void {
  const command = month.command("close").argument(
    "<month>",
    lower(MONTH_PARAM.description),
    (text: string) => MONTH_PARAM.read("<month>", text),
  ).summary("close the books of a month permanently")
    .description(
      "close the books of a month permanently: orders that the service " +
        "shows as success, corrections of earlier months, exact sums, and " +
        "what was excluded. The files are stored in the ledger, protected " +
        "by its chain",
    );
  jsonOption(ledgerOptions(command), "one object")
    .option(
      "--tz <zone>",
      "time zone of its days, for example Europe/Berlin (default: that of the " +
        "month before)",
      timeZone,
    )
    .addOption(
      new Option(
        "--book-by <time>",
        "what decides the month of an order: when the service created it, when " +
          "it completed, or when this ledger first confirmed it (default: as " +
          "the month before)",
      ).choices(BOOK_BY),
    )
    .option(
      "--before-end",
      "close the current month before it ends, after asking",
    )
    .option("--yes", "do not ask")
    .addHelpText(
      "after",
      "\nExample:\n  rampkit month close 2026-11 --tz Europe/Berlin --book-by confirmed",
    )
    .action(cli.run(async (month: string, flags: CloseFlags) => {
      const { io } = cli;
      if (flags.beforeEnd && !flags.yes) await askFirst(io, month, flags);
      await withLedger(io, flags, async (ledger) => {
        const closing = await stoppable(
          io.signal,
          async () => {
            await upToDate(ledger, io);
            using bar = progress(io, "Orders", !flags.json);
            return await ledger.months.close(
              month,
              defined({
                timeZone: flags.tz,
                bookBy: flags.bookBy,
                beforeEnd: flags.beforeEnd,
                signal: io.signal,
                onProgress: bar.at,
              }),
            );
          },
          () => `${month} was not closed`,
        );
        if (closing.refused !== null) {
          const { refused } = closing;
          const message = describeMonthRefusal(month, refused) +
            monthRefusalAdvice(month, refused);
          throw refused.code === "terms_missing"
            ? new UsageError(message)
            : new CommandError(message);
        }
        await upToDate(ledger, io);
        const { closed } = closing;
        if (flags.json) return jsonLine(io, monthJson(closed));
        lines(io, [
          ...monthLines(closedBooks(closed), io.columns),
          "",
          "Its files:",
          ...MONTH_FILE_NAMES.map((file) =>
            nextCommand(
              flags,
              `month show ${month} --file ${file} --output ${month}-${file}`,
            )
          ),
        ]);
      });
    }));
}

/** What a month that goes on would still bring is booked in a later one. */
async function askFirst(
  io: Io,
  month: string,
  { json }: Pick<CloseFlags, "json">,
): Promise<void> {
  const goesOn = !json && await confirmed(
    io,
    `Close ${month} before its end? It cannot be opened again: what still ` +
      "comes of it is booked as late in the next month. Type yes: ",
  );
  if (goesOn) return;
  throw new CommandError(
    `${month} was not closed: add --yes where nobody can be asked`,
  );
}

function timeZone(text: string): string {
  try {
    localDay(text);
    return text;
  } catch {
    throw new UsageError(
      `Wrong --tz: "${text}" is not a time zone; write one like Europe/Berlin`,
    );
  }
}

import type { Command } from "commander";
import { messageOf } from "../../../core/guards.ts";
import type { Ledger } from "../../../ledger/mod.ts";
import { readMonthBooks } from "../../../resources/months/month_books.ts";
import {
  decodeStatement,
  StatementError,
} from "../../../resources/statement/read_statement.ts";
import {
  type GivenStatement,
  leftOf,
  matchStatement,
  monthOfStatement,
} from "../../../resources/statement/statement_match.ts";
import {
  type ReadStatementMap,
  readStatementMap,
} from "../../../resources/statement/statement_map.ts";
import { statementLines } from "../../../resources/views/statement_view.ts";
import { CommandError, EXIT, UsageError } from "../../../settings/errors.ts";
import { stoppable } from "../../../settings/stoppable.ts";
import type { Cli } from "../../program/cli.ts";
import { openInput } from "../../program/input.ts";
import { type Io, jsonLine, lines } from "../../program/io.ts";
import {
  jsonOption,
  ledgerOptions,
  type SharedFlags,
} from "../../program/options.ts";
import { progress } from "../../program/progress.ts";
import { upToDate, withReadLedger } from "../../program/with_ledger.ts";
import { MONTH_PARAM } from "../../../resources/operations/month_operations.ts";
import { lower } from "../../../resources/views/text.ts";

interface MatchFlags extends SharedFlags {
  readonly map: string;
  readonly month?: string;
}

/** Largest file that is read, bytes. */
const MOST_BYTES = 256 * 1024 * 1024;

/** `statement match`. */
export function addMatch(statement: Command, cli: Cli): void {
  const command = statement.command("match").argument(
    "<file>",
    "the statement, a CSV file with a heading line; - for standard input",
  ).description(
    "match each row of a statement with one row of the books of a month: by " +
      "order id, external id or transaction, and what is left by amount, " +
      "currency and day; exit code 3 when a row differs or is left",
  );
  jsonOption(ledgerOptions(command), "one object")
    .requiredOption(
      "--map <file>",
      "JSON file that says what the columns mean; its schema: rampkit schema " +
        "statement-map",
    )
    .option(
      "--month <month>",
      `${
        lower(MONTH_PARAM.description)
      } (default: that in which all days of the statement lie)`,
      (text: string) => MONTH_PARAM.read("--month", text),
    )
    .addHelpText(
      "after",
      "\nExample:\n  rampkit statement match november.csv --map bank.json --month 2026-11",
    )
    .action(cli.run(async (file: string, flags: MatchFlags) => {
      const { io } = cli;
      const map = await readMap(io, flags.map);
      const text = decodeStatement(await readBytes(io, file));
      return await withReadLedger(
        io,
        flags,
        (ledger) => match(ledger, io, { text, map }, flags),
      );
    }));
}

async function match(
  ledger: Ledger,
  io: Io,
  statement: GivenStatement,
  { month, json }: MatchFlags,
): Promise<number> {
  const matched = await stoppable(
    io.signal,
    async () => {
      await upToDate(ledger, io);
      const of = month ??
        await readable(async () =>
          monthOfStatement(statement, await timeZoneOf(ledger))
        );
      using bar = progress(io, "Orders", !json);
      const books = await readMonthBooks(ledger, of, {
        signal: io.signal,
        onProgress: bar.at,
      });
      return await readable(() => matchStatement(ledger, books, statement));
    },
    () => "Nothing was matched",
  );
  if (json) jsonLine(io, matched);
  else lines(io, statementLines(matched, io.columns));
  return leftOf(matched) > 0 ? EXIT.disagreement : EXIT.fine;
}

/** Time zone of the books: that of the month closed last. */
async function timeZoneOf({ months }: Ledger): Promise<string> {
  let timeZone = "UTC";
  for await (const close of months.list()) timeZone = close.timeZone;
  return timeZone;
}

async function readMap(io: Io, file: string): Promise<ReadStatementMap> {
  const text = new TextDecoder().decode(await readBytes(io, file));
  try {
    return readStatementMap(JSON.parse(text));
  } catch (error) {
    if (error instanceof TypeError) {
      throw new UsageError(`${error.message} (in ${file})`);
    }
    throw new UsageError(
      `Wrong --map: ${file} is not JSON: ${messageOf(error)}`,
    );
  }
}

/** What a statement that cannot be read says, as an error of the command. */
async function readable<Result>(
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StatementError)) throw error;
    throw new CommandError(
      error.message.replace("say which month it is of", "add --month"),
    );
  }
}

async function readBytes(io: Io, file: string): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of await openInput(file, io.signal)) {
    parts.push(part);
    length += part.length;
    if (length <= MOST_BYTES) continue;
    throw new CommandError(
      `Cannot read ${file}: it has more than ${MOST_BYTES} bytes; split it`,
    );
  }
  return new Uint8Array(await new Blob(parts as BlobPart[]).arrayBuffer());
}

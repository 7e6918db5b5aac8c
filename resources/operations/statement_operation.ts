import { messageOf } from "../../core/guards.ts";
import type { Ledger } from "../../ledger/mod.ts";
import { CommandError, UsageError } from "../../core/settings/errors.ts";
import { needed, textParam } from "../../core/settings/params.ts";
import { readMonthBooks } from "../months/month_books.ts";
import {
  decodeStatement,
  StatementError,
} from "../statement/read_statement.ts";
import {
  leftOf,
  matchStatement,
  monthOfStatement,
} from "../statement/statement_match.ts";
import {
  type ReadStatementMap,
  readStatementMap,
} from "../statement/statement_map.ts";
import { statementLines } from "../views/statement_view.ts";
import { filesOf } from "./ledger_files.ts";
import { MONTH_PARAM } from "./month_operations.ts";
import {
  type Operation,
  operation,
  type OperationContext,
} from "./operation.ts";

/** Largest file that is read, bytes. */
const MOST_BYTES = 256 * 1024 * 1024;

/** The month of a statement, where it need not be said. */
const { required: _, place: __, ...MONTH } = MONTH_PARAM;

/** `statement match`. */
export const MATCH_STATEMENT: Operation = operation({
  command: "statement match",
  path: null,
  onlyCommand:
    "The statement is a file beside the command; the console takes " +
    "one in a form.",
  scope: "read",
  operationId: "matchStatement",
  summary: "Match each row of a statement with one row of the books of a " +
    "month: by order id, external id or transaction, and what is left by " +
    "amount, currency and day",
  examples: ["november.csv --map bank.json --month 2026-11"],
  params: {
    file: {
      ...needed(
        textParam(
          "The statement, a CSV file with a heading line; - for standard input",
        ),
      ),
      place: "<file>",
      isFile: true as const,
    },
    map: {
      ...needed(
        textParam(
          "File that says in JSON what the columns mean; its schema: rampkit " +
            "schema statement-map",
        ),
      ),
      operand: "<file>",
      isFile: true as const,
    },
    month: {
      ...MONTH,
      description: `${MONTH.description}; that in which all days of the ` +
        "statement lie unless said",
      operand: "<month>",
    },
  },
  result: {
    schema: "StatementMatch",
    description: "What matches, what differs and what is left",
    exitCodes: "Exit code 3 when a row differs or is left.",
  },
  folds: true,
  counts: "Orders",
  stopped: () => "Nothing was matched",
  run: async (context, { file, map: mapFile, month }) => {
    const { ledger, signal, onProgress } = context;
    const map = await readMap(context, mapFile);
    const text = decodeStatement(await readBytes(context, file));
    const statement = { text, map };
    const of = month ??
      await readable(async () =>
        monthOfStatement(statement, await timeZoneOf(ledger))
      );
    const books = await readMonthBooks(ledger, of, { signal, onProgress });
    return await readable(() => matchStatement(ledger, books, statement));
  },
  exit: (matched) => leftOf(matched) > 0 ? "disagreement" : "fine",
  says: (matched, _, { columns }) => statementLines(matched, columns),
});

/** Time zone of the books: that of the month closed last. */
async function timeZoneOf({ months }: Ledger): Promise<string> {
  let timeZone = "UTC";
  for await (const close of months.list()) timeZone = close.timeZone;
  return timeZone;
}

async function readMap(
  context: OperationContext,
  file: string,
): Promise<ReadStatementMap> {
  const text = new TextDecoder().decode(await readBytes(context, file));
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

async function readBytes(
  context: OperationContext,
  file: string,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of filesOf(context).read(file)) {
    parts.push(part);
    length += part.length;
    if (length <= MOST_BYTES) continue;
    throw new CommandError(
      `Cannot read ${file}: it has more than ${MOST_BYTES} bytes; split it`,
    );
  }
  return new Uint8Array(await new Blob(parts as BlobPart[]).arrayBuffer());
}

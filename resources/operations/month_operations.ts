import { defined } from "../../core/guards.ts";
import { BOOK_BY, localDay } from "../../ledger/for_resources.ts";
import { httpUrl, SETTINGS } from "../../core/settings/settings.ts";
import { CommandError, UsageError } from "../../core/settings/errors.ts";
import {
  flagParam,
  needed,
  type Param,
  wordParam,
} from "../../core/settings/params.ts";
import { closedBooks, readMonthBooks } from "../months/month_books.ts";
import {
  MONTH_FILE_NAMES,
  MONTH_FILES,
  type MonthFileName,
  monthFileText,
} from "../months/month_files.ts";
import { closedMonths, isMonth } from "../queries/months.ts";
import {
  monthDetailJson,
  monthLines,
  monthRecomputationJson,
  recomputationLines,
} from "../views/month_view.ts";
import { drawTable, nextCommand, orderPath } from "../views/text.ts";
import { describeMonthRefusal, monthRefusalAdvice } from "../wording/month.ts";
import {
  CSV_FILE,
  csvForm,
  marked,
  type Operation,
  operation,
  type OperationParam,
  refuseMarkAlone,
  type WrittenText,
} from "./operation.ts";

/** `month list`. */
export const MONTHS: Operation = operation({
  command: "month list",
  path: "/v1/months",
  scope: "read",
  operationId: "listMonths",
  summary: "List the closed months, without the text of their files",
  params: {},
  result: { schema: "Month", description: "All of them", many: "list" },
  run: async ({ ledger }) => ({
    items: await Array.fromAsync(closedMonths(ledger)),
  }),
  says: ({ items }, _, { columns }) =>
    items.length === 0 ? "No month is closed" : [
      drawTable(
        [
          { title: "Month", whole: true },
          { title: "Closed", whole: true },
          { title: "Time zone", spare: 2 },
          { title: "Booked by", whole: true, spare: 1 },
          { title: "As of", align: "right", whole: true, spare: 3 },
        ],
        items.map(({ month, closedAt, timeZone, bookBy, asOf }) => [
          ...[month, closedAt, timeZone, bookBy, String(asOf.position)],
        ]),
        columns,
      ),
    ],
});

/** A month. */
export const MONTH_PARAM: OperationParam<string> & { readonly required: true } =
  {
    ...needed<Param<string>>({
      description: "The month, for example 2026-11",
      schema: { type: "string" },
      read: (name, text) => {
        if (isMonth(text)) return text;
        throw new UsageError(
          `Wrong ${name}: "${text}" is not a month; write 2026-11`,
        );
      },
    }),
    place: "<month>",
  };

/** `month show`: a closed month, or the books as they are now. */
export const MONTH: Operation = operation({
  command: "month show",
  path: "/v1/months/{month}",
  scope: "read",
  operationId: "getMonth",
  summary: "Show one month: as it was closed, or its books as they are now",
  examples: ["2026-11"],
  params: { month: MONTH_PARAM },
  result: {
    schema: "MonthDetail",
    description: "What `month show --json` prints",
  },
  folds: true,
  counts: "Orders",
  stopped: notWorkedOut,
  run: async ({ ledger, signal, onProgress }, { month }) =>
    monthDetailJson(
      await readMonthBooks(ledger, month, { signal, onProgress }),
    ),
  says: (month, _, { columns }) => monthLines(month, columns),
});

function notWorkedOut(
  _: number,
  { month }: { readonly month: string },
): string {
  return `${month} was not worked out; nothing was changed`;
}

const { consoleHost, console: consolePort } = SETTINGS;

/** Where a console listens unless said. */
const CONSOLE_URL = `http://${consoleHost.fallback}:${consolePort.fallback}`;

/** `month show --file`. */
export const MONTH_FILE: Operation = operation({
  command: "month show",
  path: "/v1/months/{month}/files/{file}",
  scope: "read",
  operationId: "getMonthFile",
  summary: "Write a file of the month",
  description: "What is stored with a closed month is written byte for byte, " +
    "because its bytes have the hash",
  examples: ["2026-11 --file orders.csv --output november.csv"],
  params: {
    month: MONTH_PARAM,
    file: {
      ...needed(wordParam(
        `A file of it: ${
          MONTH_FILE_NAMES.map((name) => `${name} (${MONTH_FILES[name].means})`)
            .join(", ")
        }`,
        MONTH_FILE_NAMES,
      )),
      operand: "<name>",
    },
    consoleUrl: {
      description: "Where your console is, for the links of orders.csv; " +
        `${CONSOLE_URL} unless said`,
      schema: { type: "string", format: "uri" },
      read: httpUrl,
      operand: "<url>",
    },
    ...CSV_FILE,
  },
  result: {
    schema: null,
    description: "The file",
    text: { "text/csv": "Rows", "application/json": "Sums and terms" },
  },
  folds: true,
  checks: (given) => {
    const { file, bom = false } = given;
    refuseMarkAlone(given);
    if (
      csvForm(given) !== undefined && MONTH_FILES[file].make === undefined
    ) {
      throw new UsageError(
        `${file} has one form, because a closing stores its bytes; for other ` +
          "marks take orders.csv, booked.csv, totals.csv or currencies.csv",
      );
    }
    if (!bom || mediaTypeOf(file) === "text/csv") return;
    throw new UsageError(
      "--bom is for a spreadsheet: add --file orders.csv, booked.csv, totals.csv " +
        "or currencies.csv",
    );
  },
  stopped: notWorkedOut,
  run: async ({ ledger, signal }, given): Promise<WrittenText> => {
    const { month, file, consoleUrl = CONSOLE_URL } = given;
    const books = await readMonthBooks(ledger, month, { signal });
    const orderUrl = (orderId: string) => consoleUrl + orderPath(orderId);
    const parts = monthFileText(file, books, {
      ledger,
      orderUrl,
    }, csvForm(given));
    return { parts: marked(parts, given), mediaType: mediaTypeOf(file) };
  },
  notes: (_, { file, output }) =>
    output === undefined ? [] : [`Wrote ${file} to ${output}`],
});

function mediaTypeOf(file: MonthFileName): string {
  return file.endsWith(".csv") ? "text/csv" : "application/json";
}

/** `month show --recompute`. */
export const MONTH_RECOMPUTED: Operation = operation({
  command: "month show",
  path: "/v1/months/{month}/recomputation",
  scope: "read",
  operationId: "recomputeMonth",
  summary: "Work a closed month out again: what differs, and what became " +
    "known since",
  description:
    "It reads every event of its orders, which takes a while where " +
    "there are many",
  examples: ["2026-11 --recompute"],
  params: {
    month: MONTH_PARAM,
    recompute: {
      ...needed(flagParam(
        "Work it out again: what differs (exit code 3), and what changed since",
      )),
      only: "command" as const,
    },
  },
  result: {
    schema: "MonthRecomputation",
    description: "What differs, and what changed since",
  },
  folds: true,
  counts: "Orders",
  stopped: (_, { month }) => `${month} was not compared; nothing was changed`,
  run: async ({ ledger, signal, onProgress }, { month }) => {
    const how = { signal, onProgress };
    const found = await ledger.months.recompute(month, how);
    if (found !== null) return monthRecomputationJson(found);
    throw new CommandError(
      `${month} is not closed; see which are with: rampkit month list`,
      "not_found",
    );
  },
  exit: ({ differences }) => differences.length > 0 ? "disagreement" : "fine",
  says: (found, _, { columns }) => recomputationLines(found, columns),
});

const TIME_ZONE: OperationParam<string> = {
  description:
    "Time zone of its days, for example Europe/Berlin; that of the " +
    "month before unless said",
  schema: { type: "string" },
  read: (name, text) => {
    try {
      localDay(text);
      return text;
    } catch {
      throw new UsageError(
        `Wrong ${name}: "${text}" is not a time zone; write one like ` +
          "Europe/Berlin",
      );
    }
  },
  flag: "tz",
  operand: "<zone>",
};

/** `month close`. */
export const CLOSE_MONTH: Operation = operation({
  command: "month close",
  path: "/v1/months/{month}/close",
  scope: "operate",
  operationId: "closeMonth",
  action: "close_month",
  summary: "Close the books of a month permanently",
  description: "Orders that the service shows as success, corrections of " +
    "earlier months, exact sums, and what was excluded. The files are stored " +
    "in the ledger, protected by its chain",
  examples: ["2026-11 --tz Europe/Berlin --book-by confirmed"],
  params: {
    month: MONTH_PARAM,
    timeZone: TIME_ZONE,
    bookBy: {
      ...wordParam(
        "What decides the month of an order: when the service created it, " +
          "when it completed, or when this ledger first confirmed it; as the " +
          "month before unless said",
        BOOK_BY,
      ),
      operand: "<time>",
    },
    beforeEnd: flagParam("Close the current month before it ends"),
  },
  result: {
    schema: "MonthDetail",
    description: "The month as it was closed",
  },
  folds: true,
  opens: "begins",
  conflicts: true,
  final: "A closed month cannot be opened again: tick that you are sure",
  counts: "Orders",
  stopped: (_, { month }) => `${month} was not closed`,
  confirms: (_, { month, beforeEnd = false }) =>
    Promise.resolve(
      beforeEnd
        ? {
          shows: [],
          question: `Close ${month} before its end? It cannot be opened ` +
            "again: what still comes of it is booked as late in the next " +
            "month. Type yes: ",
          instead: null,
          refusal: `${month} was not closed: add --yes where nobody can be ` +
            "asked",
        }
        : null,
    ),
  run: async ({ ledger, named, signal, onProgress }, { month, ...terms }) => {
    await ledger.project({ signal });
    const { closed, refused } = await ledger.months.close(
      month,
      defined({ ...terms, signal, onProgress }),
    );
    if (refused === null) {
      await ledger.project({ signal });
      return monthDetailJson(closedBooks(closed));
    }
    const message = describeMonthRefusal(month, refused) +
      monthRefusalAdvice(month, refused, named);
    throw refused.code === "terms_missing"
      ? new UsageError(message)
      : new CommandError(message);
  },
  logged: ({ timeZone, bookBy, position }, { month }) => ({
    ...{ month, timeZone, bookBy, position },
  }),
  says: (closed, { month }, { columns, flags }) => [
    ...monthLines(closed, columns),
    "",
    "Its files:",
    ...MONTH_FILE_NAMES.map((file) =>
      nextCommand(
        flags,
        `month show ${month} --file ${file} --output ${month}-${file}`,
      )
    ),
  ],
});

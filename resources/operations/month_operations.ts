import { defined } from "../../core/guards.ts";
import { BOOK_BY, localDay } from "../../ledger/for_resources.ts";
import { CommandError, UsageError } from "../../settings/errors.ts";
import {
  flagParam,
  needed,
  type Param,
  wordParam,
} from "../../settings/params.ts";
import { closedBooks, readMonthBooks } from "../months/month_books.ts";
import { MONTH_FILE_NAMES } from "../months/month_files.ts";
import { closedMonths, isMonth } from "../queries/months.ts";
import { monthDetailJson, monthLines } from "../views/month_view.ts";
import { nextCommand } from "../views/shell_word.ts";
import { drawTable } from "../views/table.ts";
import { describeMonthRefusal, monthRefusalAdvice } from "../wording/month.ts";
import { type Operation, operation, type OperationParam } from "./operation.ts";

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

/** What `month show` shows: a closed month, or the books as they are now. */
export const MONTH: Operation = operation({
  command: null,
  path: "/v1/months/{month}",
  scope: "read",
  operationId: "getMonth",
  summary: "One month: as it was closed, or its books as they are now",
  params: { month: MONTH_PARAM },
  result: {
    schema: "MonthDetail",
    description: "What `month show --json` prints",
  },
  run: async ({ ledger }, { month }) =>
    monthDetailJson(await readMonthBooks(ledger, month)),
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
  final: "A month is closed for good: tick that you are sure",
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

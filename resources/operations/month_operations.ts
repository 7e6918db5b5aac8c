import { UsageError } from "../../settings/errors.ts";
import { needed, type Param } from "../../settings/params.ts";
import { readMonthBooks } from "../months/month_books.ts";
import { closedMonths, isMonth } from "../queries/months.ts";
import { monthDetailJson } from "../views/month_view.ts";
import { drawTable } from "../views/table.ts";
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

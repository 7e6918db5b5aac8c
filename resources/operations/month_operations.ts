import { closedMonths } from "../queries/months.ts";
import { drawTable } from "../views/table.ts";
import { type Operation, operation } from "./operation.ts";

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

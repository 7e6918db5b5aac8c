import {
  type OrderInContext,
  type Outcome,
  outcomeNow,
} from "../../ledger/for_resources.ts";
import { fieldsWith, ORDER_FIELDS } from "../../core/wire/order_fields.ts";
import type { OrderState } from "../../ledger/mod.ts";
import { type CsvCell, csvLine } from "../../core/csv/csv.ts";
import { DailyTotals, TOTAL_COLUMNS, totalCell } from "./daily_totals.ts";
import { orderValue } from "./order_fields.ts";
import { orderJson } from "./order_view.ts";
import { printableJson } from "./printable.ts";

/** How an export is written. */
export interface ExportOptions {
  /** `csv` with a heading line, or `ndjson`, one object a line. */
  readonly format: "csv" | "ndjson";
  /** Daily totals instead of orders. */
  readonly totals: boolean;
  /** The time, in milliseconds since the epoch: outcomes are as of then. */
  readonly nowMs: number;
  /** Takes the text as it is made. */
  readonly write: (text: string) => void;
}

/** Writes orders, or their daily totals, one by one as they are read. */
export async function exportOrders(
  orders: AsyncIterable<OrderInContext>,
  { format, totals, nowMs, write }: ExportOptions,
): Promise<void> {
  const csv = format === "csv";
  if (totals) {
    const daily = new DailyTotals();
    for await (const order of orders) daily.add(order);
    if (csv) write(csvLine(TOTAL_COLUMNS));
    for (const row of daily.rows()) {
      // Printed in the order of the columns, whatever the order of the fields.
      const cells = TOTAL_COLUMNS.map((column) => [column, row[column]]);
      write(
        csv
          ? csvLine(TOTAL_COLUMNS.map((column) => totalCell(row, column)))
          : `${printableJson(Object.fromEntries(cells))}\n`,
      );
    }
    return;
  }
  if (csv) write(csvLine(COLUMNS.map(([title]) => title)));
  for await (const order of orders) {
    const now = outcomeNow(order, nowMs);
    write(
      csv
        ? csvLine(COLUMNS.map(([, value]) => value(order, now) ?? ""))
        : `${printableJson(orderJson(order, nowMs))}\n`,
    );
  }
}

/** Columns of the order export. */
const COLUMNS: readonly (readonly [
  title: string,
  value: (order: OrderState, now: Outcome) => CsvCell | null,
])[] = [
  ["order_id", (order) => order.orderId],
  ["reference", (order) => order.expected?.reference ?? null],
  ["status", (order) => order.status],
  ["trust", (order) => order.trust],
  ...fieldsWith("column").map((field) => {
    const { column, shape } = ORDER_FIELDS[field];
    return [column, (order: OrderState) => {
      const value = orderValue(order, field);
      return shape === "decimal" ? amount(value) : value;
    }] as const;
  }),
  ["created_at", (order) => own(order.createdAt)],
  ["changed_at", (order) => own(order.changedAt)],
  ["anomalies", (order) => order.anomalies.map(({ kind }) => kind).join(" ")],
  ["release", (_, { release }) => release],
  ["release_reason", (_, { reason }) => reason],
  ["outcome", (_, { code }) => code],
  ["match", (order) => order.facts.match],
  ["attention", (_, { attention }) => attention.join(" ")],
  ["booked", (_, { booked }) => booked],
];

function amount(text: string | null): CsvCell {
  return { amount: text ?? "" };
}

function own(text: string | null): CsvCell {
  return { own: text ?? "" };
}

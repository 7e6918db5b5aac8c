import { type CsvCell, type CsvForm, csvLine } from "../../core/csv/csv.ts";
import { AMOUNT_COLUMNS, type MonthRow } from "../../ledger/for_resources.ts";
import type { OrderState } from "../../ledger/mod.ts";
import type { MonthBooks, MonthFileParts } from "./month_books.ts";

/** Rows whose orders are read at once. */
const PAGE = 200;

/** A row of a month, and what the ledger knows of its order now. */
interface JoinedRow {
  readonly row: MonthRow;
  /** Null when the ledger has no such order. */
  readonly order: OrderState | null;
  readonly orderUrl: (orderId: string) => string;
}

type Column = readonly [title: string, cell: (joined: JoinedRow) => CsvCell];

/** Columns of `orders.csv`; only ever added to, at the end. */
const COLUMNS: readonly Column[] = [
  ["kind", ({ row }) => own(row.kind)],
  ["day", ({ row }) => own(row.day)],
  ["order_id", ({ row }) => row.orderId],
  ["external_order_id", ({ order }) => order?.externalOrderId ?? ""],
  ["reference", ({ order }) => order?.expected?.reference ?? ""],
  ["user_id", ({ order }) => order?.userId ?? ""],
  ["tx_id", ({ order }) => order?.txId ?? ""],
  ["network", ({ row }) => row.money.network ?? ""],
  ["commodity", ({ row }) => row.money.commodity ?? ""],
  ["currency", ({ row }) => row.money.currency ?? ""],
  ...AMOUNT_COLUMNS.flatMap(([title, field]): Column[] => [
    [`${title}_text`, ({ row }) => ({ exact: row.money[field] ?? "" })],
    [`${title}_number`, ({ row }) => ({ rounded: row.money[field] ?? "" })],
  ]),
  ["of_month", ({ row }) => own(row.ofMonth)],
  ["dated_by", ({ row }) => own(row.datedBy)],
  ["created_at", ({ row }) => own(row.times.created)],
  ["completed_at", ({ row }) => own(row.times.completed)],
  ["confirmed_at", ({ row }) => own(row.times.confirmed)],
  ["known_at", ({ row }) => own(row.knownAt)],
  ["anomalies", ({ row }) => own(row.anomalies.join(" "))],
  ["witness", ({ row }) => own(row.witness.verdict)],
  ["order_page", ({ row, orderUrl }) => own(orderUrl(row.orderId))],
];

function own(text: string | null): CsvCell {
  return { own: text ?? "" };
}

/**
 * Writes the rows of a month as `orders.csv`: amounts as they are booked, and
 * the ids of their orders as the ledger knows them now, which joins them with
 * other books.
 */
export async function* ordersFile(
  { rows }: MonthBooks,
  { ledger, orderUrl }: MonthFileParts,
  form?: CsvForm,
): AsyncGenerator<string> {
  yield csvLine(COLUMNS.map(([title]) => own(title)), form);
  for (let from = 0; from < rows.length; from += PAGE) {
    const page = rows.slice(from, from + PAGE);
    const ids = [...new Set(page.map(({ orderId }) => orderId))];
    const orders = await ledger.orders.getMany(ids);
    yield page.map((row) => {
      const order = orders.get(row.orderId) ?? null;
      const joined = { row, order, orderUrl };
      return csvLine(COLUMNS.map(([, cell]) => cell(joined)), form);
    }).join("");
  }
}

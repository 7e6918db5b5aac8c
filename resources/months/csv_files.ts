import { type CsvCell, type CsvForm, csvLine } from "../../core/csv/csv.ts";
import {
  BOOKED_COLUMNS,
  FIRST_COLUMNS,
  type MonthRow,
} from "../../ledger/for_resources.ts";
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
  ...FIRST_COLUMNS.map(ofRow),
  ["external_order_id", ({ order }) => order?.externalOrderId ?? ""],
  ["reference", ({ order }) => order?.expected?.reference ?? ""],
  ["user_id", ({ order }) => order?.userId ?? ""],
  ["tx_id", ({ order }) => order?.txId ?? ""],
  ...BOOKED_COLUMNS.map(ofRow),
  ["order_page", ({ row, orderUrl }) => ({ own: orderUrl(row.orderId) })],
];

function ofRow([title, cell]: typeof BOOKED_COLUMNS[number]): Column {
  return [title, ({ row }) => cell(row)];
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
  yield csvLine(COLUMNS.map(([title]) => ({ own: title })), form);
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

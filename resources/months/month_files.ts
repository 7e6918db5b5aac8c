import { type CsvCell, type CsvForm, csvLine } from "../../core/csv/csv.ts";
import {
  BOOKED_COLUMNS,
  FIRST_COLUMNS,
  type MonthRow,
  SHEETS,
} from "../../ledger/for_resources.ts";
import type { OrderState } from "../../ledger/mod.ts";
import {
  type MonthBooks,
  type MonthFileParts,
  storedFiles,
} from "./month_books.ts";

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
async function* ordersFile(
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

/** A file of a month. */
interface MonthFile {
  /** What it is, in a few words. */
  readonly means: string;
  /** Makes it from the books, in any form; without this it has one form. */
  readonly make?: (
    books: MonthBooks,
    parts: MonthFileParts,
    form?: CsvForm,
  ) => Iterable<string> | AsyncIterable<string>;
}

/**
 * The files of a month, closed or not. What is stored with a closed month names
 * no person and never changes. Files that join with other books are made on
 * request, so that no new copy names an erased person.
 */
const TABLE = {
  "orders.csv": {
    means: "a row for each booked order with its ids, for a spreadsheet",
    make: ordersFile,
  },
  "booked.csv": {
    means: "orders.csv without what an erasure changes",
    make: ({ rows }, _, form) => [SHEETS["booked.csv"](rows, form)],
  },
  "totals.csv": {
    means: "exact sums by kind, currency and asset, for a spreadsheet",
    make: ({ rows }, _, form) => [SHEETS["totals.csv"](rows, form)],
  },
  "currencies.csv": {
    means: "exact sums by currency, for a spreadsheet",
    make: ({ rows }, _, form) => [SHEETS["currencies.csv"](rows, form)],
  },
  "summary.json": {
    means: "sums and terms, as a closing stores them",
  },
  "items.csv": { means: "the rows, as a closing stores them" },
} as const satisfies Readonly<Record<string, MonthFile>>;

/** Name of a file of a month. */
export type MonthFileName = keyof typeof TABLE;

/** The files of a month, by name. */
export const MONTH_FILES: Readonly<Record<MonthFileName, MonthFile>> = TABLE;

/** Their names. */
export const MONTH_FILE_NAMES = Object.keys(
  TABLE,
) as readonly MonthFileName[];

/** Whether a text names a file of a month. */
export function isMonthFile(name: string): name is MonthFileName {
  return Object.hasOwn(TABLE, name);
}

/**
 * The text of a file of a month, piece by piece. In the usual form, one that a
 * closing stores is as it is stored.
 */
export async function* monthFileText(
  name: MonthFileName,
  books: MonthBooks,
  parts: MonthFileParts,
  form?: CsvForm,
): AsyncGenerator<string> {
  const { make } = MONTH_FILES[name];
  const kept = books.close?.files.find((file) => file.name === name);
  if (kept !== undefined && form === undefined) yield kept.text;
  else if (make !== undefined) yield* make(books, parts, form);
  else yield storedFiles(books).find((file) => file.name === name)?.text ?? "";
}

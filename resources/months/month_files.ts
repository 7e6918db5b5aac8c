import { ordersFile, totalsFile } from "./csv_files.ts";
import {
  type MonthBooks,
  type MonthFileParts,
  storedFiles,
} from "./month_books.ts";

/** A file of a month. */
interface MonthFile {
  /** What it is, in a few words. */
  readonly means: string;
  /**
   * Makes it from the books; a file without this is stored with a closed month.
   */
  readonly make?: (
    books: MonthBooks,
    parts: MonthFileParts,
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
  "totals.csv": {
    means: "exact sums by kind, currency and asset, for a spreadsheet",
    make: totalsFile,
  },
  "summary.json": { means: "sums and terms, as a closing stores them" },
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

/** The text of a file of a month, piece by piece. */
export async function* monthFileText(
  name: MonthFileName,
  books: MonthBooks,
  parts: MonthFileParts,
): AsyncGenerator<string> {
  const { make } = MONTH_FILES[name];
  if (make !== undefined) yield* make(books, parts);
  else yield storedFiles(books).find((file) => file.name === name)?.text ?? "";
}

import type { Ledger, MonthClose } from "../../ledger/mod.ts";
import {
  fileText,
  monthFiles,
  type MonthRow,
  type MonthSummary,
  type MonthWork,
  readItems,
} from "../../ledger/for_resources.ts";

/** The books of a month: as it was closed, or as they are now. */
export interface MonthBooks {
  /** The month as it was closed; null while it is not. */
  readonly close: MonthClose | null;
  /** Its sums. */
  readonly summary: MonthSummary;
  /** Its rows, by day and order. */
  readonly rows: readonly MonthRow[];
}

/**
 * Reads the books of a month. One that is not closed is computed from every
 * order of the ledger, and nothing is stored.
 *
 * @throws {LedgerError} When the database fails.
 */
export async function readMonthBooks(
  ledger: Ledger,
  month: string,
  options: MonthWork = {},
): Promise<MonthBooks> {
  const close = await ledger.months.get(month);
  return close === null
    ? { close, ...await ledger.months.preview(month, options) }
    : closedBooks(close);
}

/** The books of a closed month, as they are stored. */
export function closedBooks(close: MonthClose): MonthBooks {
  return {
    close,
    summary: JSON.parse(fileText(close, "summary.json")),
    rows: [...readItems(fileText(close, "items.csv"))],
  };
}

/** The files of a month: as they are stored, or as a closing would store them. */
export function storedFiles(books: MonthBooks): MonthClose["files"] {
  return books.close?.files ?? monthFiles(books);
}

/** What a file of a month is made from, beside its books. */
export interface MonthFileParts {
  readonly ledger: Ledger;
  /** The whole address of an order's page. */
  readonly orderUrl: (orderId: string) => string;
}

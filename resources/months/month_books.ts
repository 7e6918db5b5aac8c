import type { Ledger, MonthClose } from "../../ledger/mod.ts";
import {
  fileText,
  type KindTotal,
  monthFiles,
  type MonthRow,
  type MonthRowKind,
  type MonthSummary,
  type MonthWork,
  readItems,
  ROW_KINDS,
  sumKinds,
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

/**
 * Most rows of one list that are remembered; the files of the month have all.
 */
const REMEMBERED = 200;

/** Rows that belong together: how many, and the first of them. */
export interface SomeRows {
  readonly count: number;
  readonly first: readonly MonthRow[];
}

/**
 * The books of a month as a page shows them: sums, and the first rows of each
 * list. A month may have a million.
 */
export interface BooksDigest {
  readonly summary: MonthSummary;
  /** Sums apart by kind. */
  readonly kinds: readonly KindTotal[];
  /** Rows by kind. */
  readonly rows: Readonly<Record<MonthRowKind, SomeRows>>;
  /** Rows that correct earlier months, by month. */
  readonly corrects: ReadonlyMap<string, SomeRows>;
}

/** Makes the digest of a month. */
export function booksDigest(
  { summary, rows }: Pick<MonthBooks, "summary" | "rows">,
): BooksDigest {
  const byKind = Map.groupBy(rows, ({ kind }) => kind);
  const others = rows.filter(({ kind }) => kind !== "order");
  const byMonth = Map.groupBy(others, ({ ofMonth }) => ofMonth);
  return {
    summary,
    kinds: sumKinds(rows),
    rows: Object.fromEntries(
      ROW_KINDS.map((kind) => [kind, someOf(byKind.get(kind) ?? [])]),
    ) as Record<MonthRowKind, SomeRows>,
    corrects: new Map(
      [...byMonth].map(([month, rows]) => [month, someOf(rows)]),
    ),
  };
}

function someOf(rows: readonly MonthRow[]): SomeRows {
  return { count: rows.length, first: rows.slice(0, REMEMBERED) };
}

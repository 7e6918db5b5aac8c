import {
  type KindTotal,
  type MonthRow,
  type MonthRowKind,
  type MonthSummary,
  ROW_KINDS,
  sumKinds,
} from "../../ledger/for_resources.ts";
import type { MonthBooks } from "./month_books.ts";

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

import { type KindTotal, sumKinds } from "../../ledger/for_resources.ts";
import { type CsvCell, csvLine } from "../../core/csv/csv.ts";
import type { MonthBooks } from "./month_books.ts";
import { AMOUNT_COLUMNS } from "./orders_file.ts";

type Column = readonly [title: string, cell: (total: KindTotal) => CsvCell];

/** Columns of `totals.csv`; only ever added to, at the end. */
const COLUMNS: readonly Column[] = [
  ["kind", ({ kind }) => ({ own: kind })],
  ["currency", ({ currency }) => currency ?? ""],
  ["commodity", ({ commodity }) => commodity ?? ""],
  ["network", ({ network }) => network ?? ""],
  ["rows", ({ rows }) => ({ own: `${rows}` })],
  ...AMOUNT_COLUMNS.flatMap(([title, field]): Column[] => [
    [`${title}_text`, (total) => ({ exact: total[field] ?? "" })],
    [`${title}_number`, (total) => ({ rounded: total[field] ?? "" })],
    [
      `${title}_known`,
      (total) => ({ own: `${total.rows - total[`${field}Unknown`]}` }),
    ],
    [`${title}_unknown`, (total) => ({ own: `${total[`${field}Unknown`]}` })],
  ]),
];

/**
 * Writes the sums of a month as `totals.csv`, in exact decimals: a row for each
 * kind, currency and asset, and `all` for what the month comes to.
 */
export function* totalsFile({ rows }: MonthBooks): Generator<string> {
  yield csvLine(COLUMNS.map(([title]) => ({ own: title })));
  for (const total of sumKinds(rows)) {
    yield csvLine(COLUMNS.map(([, cell]) => cell(total)));
  }
}

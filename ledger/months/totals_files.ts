import { type CsvCell, type CsvForm, csvLine } from "../../core/csv/csv.ts";
import type { MonthRow } from "./month_row.ts";
import {
  type CurrencyTotal,
  type KindTotal,
  sumCurrencies,
  sumKinds,
} from "./month_summary.ts";

/** Amounts of a row, with the column that each begins. */
export const AMOUNT_COLUMNS = [
  ["currency_amount", "currencyAmount"],
  ["crypto_amount", "cryptoAmount"],
  ["partner_fee_usd", "partnerFeeUsd"],
  ["service_fee_usd", "serviceFeeUsd"],
] as const;

type Columns<Total> =
  readonly (readonly [title: string, cell: (total: Total) => CsvCell])[];

/** Columns of sums: each as a text, as a number, and what is in it. */
const SUMS = AMOUNT_COLUMNS.map(([title, field]) => {
  type Sums =
    & { readonly rows: number }
    & { readonly [Name in typeof field]?: string | null }
    & { readonly [Name in `${typeof field}Unknown`]?: number };
  const unknown = (total: Sums) => total[`${field}Unknown`] ?? 0;
  const columns: Columns<Sums> = [
    [`${title}_text`, (total) => ({ exact: total[field] ?? "" })],
    [`${title}_number`, (total) => ({ rounded: total[field] ?? "" })],
    [`${title}_known`, (total) => ({ own: `${total.rows - unknown(total)}` })],
    [`${title}_unknown`, (total) => ({ own: `${unknown(total)}` })],
  ];
  return { field, columns };
});

/** Columns of `totals.csv`; only ever added to, at the end. */
const TOTALS: Columns<KindTotal> = [
  ["kind", ({ kind }) => ({ own: kind })],
  ["currency", ({ currency }) => currency ?? ""],
  ["commodity", ({ commodity }) => commodity ?? ""],
  ["network", ({ network }) => network ?? ""],
  ["rows", ({ rows }) => ({ own: `${rows}` })],
  ...SUMS.flatMap(({ columns }) => columns),
];

/** Columns of `currencies.csv`; only ever added to, at the end. */
const CURRENCIES: Columns<CurrencyTotal> = [
  ["currency", ({ currency }) => currency ?? ""],
  ["rows", ({ rows }) => ({ own: `${rows}` })],
  ...SUMS.filter(({ field }) => field !== "cryptoAmount")
    .flatMap(({ columns }) => columns),
];

/**
 * Writes the sums of a month as `totals.csv`, in exact decimals: a row for each
 * kind, currency and asset, which add up to the month.
 */
export function totalsFile(rows: readonly MonthRow[], form?: CsvForm): string {
  const kinds = sumKinds(rows).filter(({ kind }) => kind !== "all");
  return sheet(TOTALS, kinds, form);
}

/** Writes the sums of a month as `currencies.csv`: a row for each currency. */
export function currenciesFile(
  rows: readonly MonthRow[],
  form?: CsvForm,
): string {
  return sheet(CURRENCIES, sumCurrencies(rows), form);
}

function sheet<Total>(
  columns: Columns<Total>,
  totals: readonly Total[],
  form: CsvForm | undefined,
): string {
  return [
    csvLine(columns.map(([title]) => ({ own: title })), form),
    ...totals.map((one) => csvLine(columns.map(([, cell]) => cell(one)), form)),
  ].join("");
}

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

/** Columns of a sum: as a text, as a number, and what is in it. */
function sumColumns<Total extends { readonly rows: number }>(
  title: string,
  amount: (total: Total) => string | null,
  unknown: (total: Total) => number,
): (readonly [string, (total: Total) => CsvCell])[] {
  return [
    [`${title}_text`, (total) => ({ exact: amount(total) ?? "" })],
    [`${title}_number`, (total) => ({ rounded: amount(total) ?? "" })],
    [`${title}_known`, (total) => ({ own: `${total.rows - unknown(total)}` })],
    [`${title}_unknown`, (total) => ({ own: `${unknown(total)}` })],
  ];
}

/** Columns of `totals.csv`; only ever added to, at the end. */
const TOTALS: readonly (readonly [string, (total: KindTotal) => CsvCell])[] = [
  ["kind", ({ kind }) => ({ own: kind })],
  ["currency", ({ currency }) => currency ?? ""],
  ["commodity", ({ commodity }) => commodity ?? ""],
  ["network", ({ network }) => network ?? ""],
  ["rows", ({ rows }) => ({ own: `${rows}` })],
  ...AMOUNT_COLUMNS.flatMap(([title, field]) =>
    sumColumns<KindTotal>(
      title,
      (total) => total[field],
      (total) => total[`${field}Unknown`],
    )
  ),
];

/** Columns of `currencies.csv`; only ever added to, at the end. */
const CURRENCIES: readonly (readonly [
  string,
  (total: CurrencyTotal) => CsvCell,
])[] = [
  ["currency", ({ currency }) => currency ?? ""],
  ["rows", ({ rows }) => ({ own: `${rows}` })],
  ...(["currencyAmount", "partnerFeeUsd", "serviceFeeUsd"] as const).flatMap(
    (field) =>
      sumColumns<CurrencyTotal>(
        AMOUNT_COLUMNS.find(([, one]) => one === field)?.[0] ?? field,
        (total) => total[field],
        (total) => total[`${field}Unknown`],
      ),
  ),
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
  columns: readonly (readonly [string, (total: Total) => CsvCell])[],
  totals: readonly Total[],
  form: CsvForm | undefined,
): string {
  return [
    csvLine(columns.map(([title]) => ({ own: title })), form),
    ...totals.map((one) => csvLine(columns.map(([, cell]) => cell(one)), form)),
  ].join("");
}

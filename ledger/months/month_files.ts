/** The files of a month, and how its rows are read back from one. */
import {
  type CsvCell,
  type CsvForm,
  csvLine,
  csvRows,
} from "../../core/csv/csv.ts";
import type { MonthClosedFile } from "../events/event.ts";
import { monthFile } from "./month_close.ts";
import type { BookBy, Money, MonthRow, MonthRowKind } from "./month_row.ts";
import {
  type CurrencyTotal,
  type KindTotal,
  type MonthSummary,
  sumCurrencies,
  sumKinds,
  summaryFile,
} from "./month_summary.ts";

/** Columns of a file; only ever added to, at the end. */
type Columns<Row> =
  readonly (readonly [title: string, cell: (row: Row) => CsvCell])[];

const own = (text: string | null): CsvCell => ({ own: text ?? "" });

const WHAT: Columns<MonthRow> = [
  ["kind", ({ kind }) => own(kind)],
  ["day", ({ day }) => own(day)],
  ["order_id", ({ orderId }) => orderId],
];

const WHEN: Columns<MonthRow> = [
  ["of_month", ({ ofMonth }) => own(ofMonth)],
  ["dated_by", ({ datedBy }) => own(datedBy)],
  ["created_at", ({ times }) => own(times.created)],
  ["completed_at", ({ times }) => own(times.completed)],
  ["confirmed_at", ({ times }) => own(times.confirmed)],
  ["known_at", ({ knownAt }) => own(knownAt)],
];

const HOW_SURE: Columns<MonthRow> = [
  ["anomalies", ({ anomalies }) => own(anomalies.join(" "))],
  ["witness", ({ witness }) => own(witness.verdict)],
];

/** Amounts, with the column that each begins. */
const AMOUNTS = [
  ["currency_amount", "currencyAmount"],
  ["crypto_amount", "cryptoAmount"],
  ["partner_fee_usd", "partnerFeeUsd"],
  ["service_fee_usd", "serviceFeeUsd"],
] as const;

/** Columns of money in `items.csv`. */
const MONEY: readonly (readonly [title: string, field: keyof Money])[] = [
  ["currency", "currency"],
  AMOUNTS[0],
  ["commodity", "commodity"],
  ["network", "network"],
  ...AMOUNTS.slice(1),
];

const ITEMS: Columns<MonthRow> = [
  ...WHAT,
  ...WHEN,
  ...MONEY.map(([title, field]) => {
    const cell = ({ money }: MonthRow): CsvCell =>
      title === field ? money[field] ?? "" : { amount: money[field] ?? "" };
    return [title, cell] as const;
  }),
  ...HOW_SURE,
  ["witness_final", ({ witness }) => own(witness.final)],
  ["witness_block", ({ witness }) => own(witness.block)],
];

/** Columns that tell what a row is, as they begin `booked.csv` and `orders.csv`. */
export const FIRST_COLUMNS = WHAT;

/** Columns of `booked.csv` behind these: what an erasure never changes. */
export const BOOKED_COLUMNS: Columns<MonthRow> = [
  ["network", ({ money }) => money.network ?? ""],
  ["commodity", ({ money }) => money.commodity ?? ""],
  ["currency", ({ money }) => money.currency ?? ""],
  ...AMOUNTS.flatMap(([title, field]): Columns<MonthRow> => [
    [`${title}_text`, ({ money }) => ({ exact: money[field] ?? "" })],
    [`${title}_number`, ({ money }) => ({ rounded: money[field] ?? "" })],
  ]),
  ...WHEN,
  ...HOW_SURE,
];

/** Columns of sums: each as a text, as a number, and what is in it. */
const SUMS = AMOUNTS.map(([title, field]) => {
  type Sums =
    & { readonly rows: number }
    & { readonly [Name in typeof field]?: string | null }
    & { readonly [Name in `${typeof field}Unknown`]?: number };
  const unknown = (total: Sums) => total[`${field}Unknown`] ?? 0;
  const columns: Columns<Sums> = [
    [`${title}_text`, (total) => ({ exact: total[field] ?? "" })],
    [`${title}_number`, (total) => ({ rounded: total[field] ?? "" })],
    [`${title}_known`, (total) => own(`${total.rows - unknown(total)}`)],
    [`${title}_unknown`, (total) => own(`${unknown(total)}`)],
  ];
  return { field, columns };
});

const TOTALS: Columns<KindTotal> = [
  ["kind", ({ kind }) => own(kind)],
  ["currency", ({ currency }) => currency ?? ""],
  ["commodity", ({ commodity }) => commodity ?? ""],
  ["network", ({ network }) => network ?? ""],
  ["rows", ({ rows }) => own(`${rows}`)],
  ...SUMS.flatMap(({ columns }) => columns),
];

const CURRENCIES: Columns<CurrencyTotal> = [
  ["currency", ({ currency }) => currency ?? ""],
  ["rows", ({ rows }) => own(`${rows}`)],
  ...SUMS.filter(({ field }) => field !== "cryptoAmount")
    .flatMap(({ columns }) => columns),
];

function sheet<Row>(
  columns: Columns<Row>,
  rows: readonly Row[],
  form?: CsvForm,
): string {
  return [
    csvLine(columns.map(([title]) => own(title)), form),
    ...rows.map((row) => csvLine(columns.map(([, cell]) => cell(row)), form)),
  ].join("");
}

/** Writes the rows of a month as `items.csv`. */
export function itemsFile(rows: readonly MonthRow[]): string {
  return sheet(ITEMS, rows);
}

/** Writes what of `orders.csv` an erasure never changes as `booked.csv`. */
export function bookedFile(rows: readonly MonthRow[], form?: CsvForm): string {
  return sheet([...FIRST_COLUMNS, ...BOOKED_COLUMNS], rows, form);
}

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

/** The files that a closing stores. */
export function monthFiles(
  { summary, rows }: {
    readonly summary: MonthSummary;
    readonly rows: readonly MonthRow[];
  },
): MonthClosedFile[] {
  return [
    monthFile("summary.json", summaryFile(summary)),
    monthFile("items.csv", itemsFile(rows)),
    monthFile("totals.csv", totalsFile(rows)),
    monthFile("currencies.csv", currenciesFile(rows)),
    monthFile("booked.csv", bookedFile(rows)),
  ];
}

/** Reads the rows of a stored `items.csv`. */
export function* readItems(text: string): Generator<MonthRow> {
  let titles: readonly string[] | undefined;
  for (const cells of csvRows(text)) {
    if (titles === undefined) {
      titles = cells;
      continue;
    }
    const cell = Object.fromEntries(
      titles.map((title, at) => [title, cells[at] ?? ""]),
    );
    const filled = (title: string) => cell[title] || null;
    const money = Object.fromEntries(
      MONEY.map(([title, field]) => [field, filled(title)]),
    ) as unknown as Money;
    yield {
      kind: cell.kind as MonthRowKind,
      day: cell.day ?? "",
      orderId: cell.order_id ?? "",
      ofMonth: cell.of_month ?? "",
      datedBy: cell.dated_by as BookBy,
      times: {
        created: filled("created_at"),
        completed: filled("completed_at"),
        confirmed: filled("confirmed_at"),
      },
      knownAt: cell.known_at ?? "",
      money,
      anomalies: filled("anomalies")?.split(" ") ?? [],
      witness: {
        verdict: cell.witness ?? "",
        final: cell.witness_final ?? "",
        block: cell.witness_block ?? "",
      },
    };
  }
}

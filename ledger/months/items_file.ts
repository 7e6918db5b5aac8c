import { type CsvCell, csvLine, csvRows } from "../../core/csv/csv.ts";
import {
  AMOUNTS,
  type BookBy,
  type Money,
  type MonthRow,
  type MonthRowKind,
} from "./month_row.ts";

/** Columns of money, in their order. */
const MONEY: readonly (readonly [title: string, field: keyof Money])[] = [
  ["currency", "currency"],
  ["currency_amount", "currencyAmount"],
  ["commodity", "commodity"],
  ["network", "network"],
  ["crypto_amount", "cryptoAmount"],
  ["partner_fee_usd", "partnerFeeUsd"],
  ["service_fee_usd", "serviceFeeUsd"],
];

const IS_AMOUNT: ReadonlySet<string> = new Set(AMOUNTS);

/** Columns of the items of a month; only ever added to, at the end. */
const COLUMNS: readonly (readonly [
  title: string,
  cell: (row: MonthRow) => CsvCell,
])[] = [
  ["kind", ({ kind }) => ({ own: kind })],
  ["day", ({ day }) => ({ own: day })],
  ["order_id", ({ orderId }) => orderId],
  ["of_month", ({ ofMonth }) => ({ own: ofMonth })],
  ["dated_by", ({ datedBy }) => ({ own: datedBy })],
  ["created_at", ({ times }) => time(times.created)],
  ["completed_at", ({ times }) => time(times.completed)],
  ["confirmed_at", ({ times }) => time(times.confirmed)],
  ["known_at", ({ knownAt }) => time(knownAt)],
  ...MONEY.map(([title, field]) =>
    [
      title,
      ({ money }: MonthRow): CsvCell =>
        IS_AMOUNT.has(field)
          ? { amount: money[field] ?? "" }
          : money[field] ?? "",
    ] as const
  ),
  ["anomalies", ({ anomalies }) => ({ own: anomalies.join(" ") })],
  ["witness", ({ witness }) => ({ own: witness.verdict })],
  ["witness_final", ({ witness }) => ({ own: witness.final })],
  ["witness_block", ({ witness }) => ({ own: witness.block })],
];

function time(value: string | null): CsvCell {
  return { own: value ?? "" };
}

/** Writes the rows of a month as `items.csv`. */
export function itemsFile(rows: readonly MonthRow[]): string {
  return [
    csvLine(COLUMNS.map(([title]) => ({ own: title }))),
    ...rows.map((row) => csvLine(COLUMNS.map(([, cell]) => cell(row)))),
  ].join("");
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

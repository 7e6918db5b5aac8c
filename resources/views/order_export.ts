import {
  type OrderInContext,
  type Outcome,
  outcomeNow,
} from "../../ledger/for_resources.ts";
import { fieldsWith, ORDER_FIELDS } from "../../core/wire/fields.ts";
import type { OrderState } from "../../ledger/mod.ts";
import { type CsvCell, type CsvForm, csvLine } from "../../core/csv/csv.ts";
import { orderJson, orderValue } from "./order_view.ts";
import { printableJson } from "../../core/text.ts";
// @ts-types="@types/big.js"
import Big from "big.js";

/** How an export is written. */
export interface ExportOptions {
  /** `csv` with a heading line, or `ndjson`, one object a line. */
  readonly format: "csv" | "ndjson";
  /** Daily totals instead of orders. */
  readonly totals: boolean;
  /** The time, in milliseconds since the epoch: outcomes are as of then. */
  readonly nowMs: number;
  /** Marks of numbers and cells of CSV. @default {a point, and commas} */
  readonly form?: CsvForm;
}

/** The text of orders, or of their daily totals, line by line as they are read. */
export async function* orderExport(
  orders: AsyncIterable<OrderInContext>,
  { format, totals, nowMs, form }: ExportOptions,
): AsyncGenerator<string> {
  const csv = format === "csv";
  if (totals) {
    const daily = new DailyTotals();
    for await (const order of orders) daily.add(order);
    if (csv) yield csvLine(TOTAL_COLUMNS, form);
    for (const row of daily.rows()) {
      // Printed in the order of the columns, whatever the order of the fields.
      const cells = TOTAL_COLUMNS.map((column) => [column, row[column]]);
      yield csv
        ? csvLine(TOTAL_COLUMNS.map((column) => totalCell(row, column)), form)
        : `${printableJson(Object.fromEntries(cells))}\n`;
    }
    return;
  }
  if (csv) yield csvLine(COLUMNS.map(([title]) => title), form);
  for await (const order of orders) {
    const now = outcomeNow(order, nowMs);
    yield csv
      ? csvLine(COLUMNS.map(([, value]) => value(order, now) ?? ""), form)
      : `${printableJson(orderJson(order, nowMs))}\n`;
  }
}

/** Columns of the order export. */
const COLUMNS: readonly (readonly [
  title: string,
  value: (order: OrderState, now: Outcome) => CsvCell | null,
])[] = [
  ["order_id", (order) => order.orderId],
  ["reference", (order) => order.expected?.reference ?? null],
  ["status", (order) => order.status],
  ["trust", (order) => order.trust],
  ...fieldsWith("column").map((field) => {
    const { column, shape } = ORDER_FIELDS[field];
    return [column, (order: OrderState) => {
      const value = orderValue(order, field);
      return shape === "decimal" ? amount(value) : value;
    }] as const;
  }),
  ["created_at", (order) => own(order.createdAt)],
  ["changed_at", (order) => own(order.changedAt)],
  ["anomalies", (order) => order.anomalies.map(({ kind }) => kind).join(" ")],
  ["release", (_, { release }) => release],
  ["release_reason", (_, { reason }) => reason],
  ["outcome", (_, { code }) => code],
  ["match", (order) => order.facts.match],
  ["chain", (order) => order.facts.chain],
  ["attention", (_, { attention }) => attention.join(" ")],
  ["booked", (_, { booked }) => booked],
];

function amount(text: string | null): CsvCell {
  return { amount: text ?? "" };
}

function own(text: string | null): CsvCell {
  return { own: text ?? "" };
}

/** What orders of one total have in common: its columns, and their values. */
const KEY = {
  day: ({ createdAt }: OrderState) => createdAt?.slice(0, 10) ?? "",
  status: ({ status }: OrderState) => status,
  commodity: ({ commodity }: OrderState) => commodity ?? "",
  network: ({ network }: OrderState) => network ?? "",
  currency: ({ currency }: OrderState) => currency ?? "",
  trust: ({ trust }: OrderState) => trust,
} as const;

/** Amounts that are added up. Missing ones are counted in columns of their own. */
const SUMS = [
  {
    sum: "currency_amount",
    missing: "currency_amount_missing",
    of: ({ currencyAmount }: OrderState) => currencyAmount,
  },
  {
    sum: "crypto_amount",
    missing: "crypto_amount_missing",
    of: ({ cryptoAmount }: OrderState) => cryptoAmount,
  },
  {
    sum: "partner_fee_usd",
    missing: "partner_fee_missing",
    of: ({ fees }: OrderState) => fees.partnerFee,
  },
  {
    sum: "service_fee_usd",
    missing: "service_fee_missing",
    of: ({ fees }: OrderState) => fees.serviceFee,
  },
] as const;

/** Columns of the totals; only ever added to, at the end. */
const TOTAL_COLUMNS = [
  "day",
  "status",
  "commodity",
  "network",
  "currency",
  "orders",
  "currency_amount",
  "crypto_amount",
  "partner_fee_usd",
  "service_fee_usd",
  "trust",
  "currency_amount_missing",
  "crypto_amount_missing",
  "partner_fee_missing",
  "service_fee_missing",
] as const;

/**
 * Orders of one day, status, asset, currency and trust, added up: a text for
 * each column.
 */
export type TotalRow = Record<(typeof TOTAL_COLUMNS)[number], string>;

type Key = Record<keyof typeof KEY, string>;

/** One cell of a total as CSV. */
function totalCell(
  row: TotalRow,
  column: (typeof TOTAL_COLUMNS)[number],
): CsvCell {
  const text = row[column];
  if (column === "day") return { own: text };
  return SUMS.some(({ sum }) => sum === column) ? { amount: text } : text;
}

/** Sums per day (UTC), status, asset, currency and trust, in exact decimals:
 * claimed amounts must not count as income. */
export class DailyTotals {
  readonly #groups = new Map<
    string,
    { readonly key: Key; orders: number; readonly sums: readonly Sum[] }
  >();

  /**
   * Adds one order. An amount that is unknown or not an amount adds nothing and
   * is counted as missing.
   */
  add(order: OrderState): void {
    const key = Object.fromEntries(
      Object.entries(KEY).map(([column, of]) => [column, of(order)]),
    ) as Key;
    const name = JSON.stringify(Object.values(key));
    let group = this.#groups.get(name);
    if (group === undefined) {
      group = { key, orders: 0, sums: SUMS.map(() => new Sum()) };
      this.#groups.set(name, group);
    }
    group.orders++;
    for (const [index, { of }] of SUMS.entries()) {
      group.sums[index]?.add(summable(of(order)));
    }
  }

  /** The totals, by day and then by group. */
  rows(): TotalRow[] {
    return [...this.#groups.entries()].sort(([a], [b]) => a < b ? -1 : 1).map(
      ([, { key, orders, sums }]) => ({
        ...key,
        orders: String(orders),
        ...Object.fromEntries(
          SUMS.flatMap(({ sum, missing }, index) => [
            [sum, sums[index]?.text() ?? ""],
            [missing, String(sums[index]?.missing ?? 0)],
          ]),
        ) as Record<(typeof SUMS)[number]["sum" | "missing"], string>,
      }),
    );
  }
}

/**
 * Adds up what is known, and counts what is not: a fee that was not stated is
 * not a fee of zero.
 */
class Sum {
  /** How many amounts were not known. */
  missing = 0;
  #total: Big | null = null;

  add(amount: Big | null): void {
    if (amount === null) this.missing++;
    else this.#total = this.#total?.plus(amount) ?? amount;
  }

  /** The sum, or nothing where no amount was known. */
  text(): string {
    return this.#total?.toFixed() ?? "";
  }
}

/** An amount to add up. A claim can state any text, and a sum with a forged
 * exponent would write out as many digits as that names. */
function summable(amount: string | null): Big | null {
  if (amount === null) return null;
  try {
    const value = new Big(amount);
    return Math.abs(value.e) > 100 ? null : value;
  } catch {
    return null;
  }
}

// @ts-types="@types/big.js"
import Big from "big.js";
import type { OrderState } from "../ledger/mod.ts";
import { orderJson } from "./order_view.ts";

/** How an export is written. */
export interface ExportOptions {
  /** `csv` with a heading line, or `ndjson`, one object a line. */
  readonly format: "csv" | "ndjson";
  /** Daily totals instead of orders. */
  readonly totals: boolean;
  /** Takes the text as it is made. */
  readonly write: (text: string) => void;
}

/** Writes orders, or their daily totals, one by one as they are read. */
export async function exportOrders(
  orders: AsyncIterable<OrderState>,
  options: ExportOptions,
): Promise<void> {
  if (options.totals) {
    const totals = new DailyTotals();
    for await (const order of orders) totals.add(order);
    writeRows(TOTAL_COLUMNS, totals.rows(), options);
    return;
  }
  if (options.format === "csv") options.write(csvLine(ORDER_COLUMNS));
  for await (const order of orders) {
    options.write(
      options.format === "csv"
        ? csvLine(orderRow(order))
        : `${JSON.stringify(orderJson(order))}\n`,
    );
  }
}

/** Columns of the order export; only ever added to, at the end. */
export const ORDER_COLUMNS: readonly string[] = [
  "order_id",
  "external_order_id",
  "click_id",
  "reference",
  "user_id",
  "status",
  "trust",
  "currency",
  "currency_amount",
  "commodity",
  "network",
  "crypto_amount",
  "tx_id",
  "address",
  "partner_fee_usd",
  "service_fee_usd",
  "fail_reason",
  "created_at",
  "changed_at",
  "anomalies",
];

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
] as const;

type TotalRow = Record<(typeof TOTAL_COLUMNS)[number], string>;

/** Sums per day (UTC), status, asset, currency and trust, in exact decimals:
 * what was only claimed must not count as income. */
export class DailyTotals {
  readonly #groups = new Map<string, {
    key: readonly string[];
    orders: number;
    sums: [Big, Big, Big, Big];
  }>();

  /** Counts one order in. An amount that is not known, or is no amount, adds
   * nothing. */
  add(order: OrderState): void {
    const key = [
      order.createdAt?.slice(0, 10) ?? "",
      order.status,
      order.commodity ?? "",
      order.network ?? "",
      order.currency ?? "",
      order.trust,
    ];
    const name = JSON.stringify(key);
    let group = this.#groups.get(name);
    if (group === undefined) {
      group = { key, orders: 0, sums: [ZERO, ZERO, ZERO, ZERO] };
      this.#groups.set(name, group);
    }
    group.orders++;
    const parts = [
      order.currencyAmount,
      order.cryptoAmount,
      order.fees.partnerFee,
      order.fees.serviceFee,
    ];
    for (const [index, part] of parts.entries()) {
      const sum = group.sums[index];
      const amount = summable(part);
      if (sum !== undefined && amount !== null) {
        group.sums[index] = sum.plus(amount);
      }
    }
  }

  /** The totals, by day and then by group. */
  rows(): TotalRow[] {
    return [...this.#groups.entries()].sort(([a], [b]) => a < b ? -1 : 1).map(
      ([, { key, orders, sums }]) => {
        const [day, status, commodity, network, currency, trust] = key;
        return {
          day: day ?? "",
          status: status ?? "",
          commodity: commodity ?? "",
          network: network ?? "",
          currency: currency ?? "",
          orders: String(orders),
          currency_amount: sums[0].toFixed(),
          crypto_amount: sums[1].toFixed(),
          partner_fee_usd: sums[2].toFixed(),
          service_fee_usd: sums[3].toFixed(),
          trust: trust ?? "",
        };
      },
    );
  }
}

const ZERO = new Big(0);

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

function orderRow(order: OrderState): string[] {
  return [
    order.orderId,
    order.externalOrderId,
    order.clickId,
    order.asked?.reference ?? null,
    order.userId,
    order.status,
    order.trust,
    order.currency,
    order.currencyAmount,
    order.commodity,
    order.network,
    order.cryptoAmount,
    order.txId,
    order.address,
    order.fees.partnerFee,
    order.fees.serviceFee,
    order.failReason,
    order.createdAt,
    order.changedAt,
    order.anomalies.map(({ kind }) => kind).join(" "),
  ].map((value) => value ?? "");
}

function writeRows(
  columns: readonly string[],
  rows: readonly Record<string, string>[],
  { format, write }: ExportOptions,
): void {
  if (format === "csv") write(csvLine(columns));
  for (const row of rows) {
    write(
      format === "csv"
        ? csvLine(columns.map((column) => row[column] ?? ""))
        : `${JSON.stringify(row)}\n`,
    );
  }
}

/** One CSV line (RFC 4180). A text that a spreadsheet would run as a formula
 * gets an apostrophe in front: click ids and references come from outside. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(",")}\r\n`;
}

function csvCell(cell: string): string {
  const text = /^[=+\-@\t\r]/.test(cell) && !/^-?\d+(\.\d+)?$/.test(cell)
    ? `'${cell}`
    : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

import type { Exclusion } from "./decide_rows.ts";
import {
  AMOUNTS,
  AmountSum,
  type BookBy,
  type Money,
  type MonthRow,
  type MonthRowKind,
  ROW_KINDS,
  UNITS,
} from "./month_row.ts";
import { printableJson } from "../../core/printable.ts";

/** Sums of rows with the same currency and asset. */
export type MonthTotal = Pick<Money, "currency" | "commodity" | "network"> & {
  /**
   * Orders booked, minus those taken back.
   * @asType integer
   */
  readonly orders: number;
  /** Sum of the known amounts, exact; null where none is known. */
  readonly currencyAmount: string | null;
  /**
   * How many of the orders have no known amount.
   * @asType integer
   */
  readonly currencyAmountUnknown: number;
  /**
   * Sum of the known amounts of the asset, exact; null where none is known.
   */
  readonly cryptoAmount: string | null;
  /**
   * How many of the orders have no known amount of the asset.
   * @asType integer
   */
  readonly cryptoAmountUnknown: number;
  /** Sum of the partner's known fees, exact; null where none is known. */
  readonly partnerFeeUsd: string | null;
  /**
   * How many of the orders have no known fee of the partner.
   * @asType integer
   */
  readonly partnerFeeUsdUnknown: number;
  /** Sum of the service's known fees, exact; null where none is known. */
  readonly serviceFeeUsd: string | null;
  /**
   * How many of the orders have no known fee of the service.
   * @asType integer
   */
  readonly serviceFeeUsdUnknown: number;
};

/** Sums of the rows of a month. */
export interface MonthSums {
  /** Rows by kind. */
  readonly rows: Readonly<Record<MonthRowKind, number>>;
  /** Sums by currency and asset. */
  readonly totals: readonly MonthTotal[];
  /** Sums by day, currency and asset. */
  readonly days: readonly ({ readonly day: string } & MonthTotal)[];
  /** Orders with an anomaly that affects money, by kind. */
  readonly anomalies: readonly {
    /** Kind of anomaly. */
    readonly kind: string;
    /** The orders, sorted. */
    readonly orderIds: readonly string[];
  }[];
}

/** Orders that are not booked, by reason. */
export type ExclusionCounts = Readonly<Record<Exclusion, number>>;

/** Adds up the rows of a month, in exact decimals. */
export function sumMonth(rows: readonly MonthRow[]): MonthSums {
  const counts = ROW_KINDS.map((kind) =>
    [kind, rows.filter((row) => row.kind === kind).length] as const
  );
  const odd = rows.flatMap(({ orderId, anomalies }) =>
    anomalies.map((kind) => ({ kind, orderId }))
  );
  return {
    rows: Object.fromEntries(counts) as Record<MonthRowKind, number>,
    totals: sumRows(rows, -1),
    days: sortedGroups(rows, ({ day }) => day).flatMap(([day, own]) =>
      sumRows(own, -1).map((total) => ({ day, ...total }))
    ),
    anomalies: sortedGroups(odd, ({ kind }) => kind).map(([kind, own]) => ({
      kind,
      orderIds: [...new Set(own.map(({ orderId }) => orderId))].sort(),
    })),
  };
}

/** Sums of rows of one kind, of one currency and asset. */
export type KindTotal = Omit<MonthTotal, "orders"> & {
  /** The kind; `all` for the whole month. */
  readonly kind: MonthRowKind | "all";
  /**
   * Rows of the kind. An amount or fee that is not counted as unknown is known.
   * @asType integer
   */
  readonly rows: number;
};

/**
 * Adds up the rows of a month apart by kind, and all of them, in exact decimals: by
 * kind in their order, then by currency and asset; `all` is last.
 */
export function sumKinds(rows: readonly MonthRow[]): KindTotal[] {
  return [...ROW_KINDS, "all" as const].flatMap((kind) => {
    const own = rows.filter((row) => kind === "all" || row.kind === kind);
    return sumRows(own, 1).map(({ orders, ...total }) => ({
      kind,
      rows: orders,
      ...total,
    }));
  });
}

/** Sums of a whole month in one currency. */
export type CurrencyTotal = Omit<
  KindTotal,
  "kind" | "commodity" | "network" | "cryptoAmount" | "cryptoAmountUnknown"
>;

/**
 * Adds up the rows of a month by currency, in exact decimals, whatever asset
 * they are of.
 */
export function sumCurrencies(rows: readonly MonthRow[]): CurrencyTotal[] {
  return sumRows(rows, 1, ["currency"]).map((total) => {
    const { currency, orders, cryptoAmount: _, ...more } = total;
    const { cryptoAmountUnknown: _unknown, ...sums } = more;
    return { currency, rows: orders, ...sums };
  });
}

/** Adds up rows of the same units; `reversal` is what one that takes back counts. */
function sumRows(
  rows: readonly MonthRow[],
  reversal: 1 | -1,
  units: readonly (typeof UNITS)[number][] = UNITS,
): MonthTotal[] {
  const groups = sortedGroups(
    rows,
    ({ money }) => JSON.stringify(units.map((unit) => money[unit])),
  );
  return groups.map(([, own]) => {
    const sums = AMOUNTS.map((field) => [field, new AmountSum()] as const);
    let orders = 0;
    for (const { kind, money } of own) {
      const sign = kind === "reversal" ? reversal : 1;
      orders += sign;
      for (const [field, sum] of sums) sum.add(money[field], sign);
    }
    return {
      ...Object.fromEntries(units.map((unit) => [unit, own[0]?.money[unit]])),
      orders,
      ...Object.fromEntries(sums.flatMap(([field, { known, unknown }]) => [
        [field, known],
        [`${field}Unknown`, unknown],
      ])),
    } as MonthTotal;
  });
}

function sortedGroups<One>(
  all: readonly One[],
  keyOf: (one: One) => string,
): (readonly [key: string, own: readonly One[]])[] {
  return [...Map.groupBy(all, keyOf)].sort(([a], [b]) => a < b ? -1 : 1);
}

/** How a month was computed. */
export interface MonthTerms {
  /** The month, `2026-11`. */
  readonly month: string;
  /** Time zone of its days. */
  readonly timeZone: string;
  /** Version of the time zone data; null where the runtime does not say. */
  readonly timeZoneVersion: string | null;
  /** Which time of an order decides its month. */
  readonly bookBy: BookBy;
  /** What was known. */
  readonly asOf: {
    /** Position of the last event. */
    readonly position: number;
    /** Events up to it. */
    readonly events: number;
  };
  /** Version of the fold. */
  readonly foldVersion: number;
}

/** Totals of a closed month: its `summary.json`. */
export interface MonthSummary extends MonthTerms, MonthSums {
  /** Orders that are not booked, by reason. */
  readonly excluded: ExclusionCounts;
  /** Orders that are `unclear`, sorted: a person asks the service. */
  readonly unclear: readonly string[];
}

/** Writes a summary as `summary.json`: one key order, two spaces. */
export function summaryFile(summary: MonthSummary): string {
  return `${printableJson(summary, 2)}\n`;
}

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
  const kinds = Object.fromEntries(
    ROW_KINDS.map((kind) => [kind, 0]),
  ) as Record<MonthRowKind, number>;
  const totals = new Groups();
  const days = new Groups();
  const odd = new Map<string, Set<string>>();
  for (const row of rows) {
    kinds[row.kind]++;
    totals.add(row, "");
    days.add(row, row.day);
    for (const kind of row.anomalies) {
      odd.set(kind, (odd.get(kind) ?? new Set()).add(row.orderId));
    }
  }
  return {
    rows: kinds,
    totals: totals.sorted().map(({ total }) => total),
    days: days.sorted().map(({ day, total }) => ({ day, ...total })),
    anomalies: [...odd].sort(([a], [b]) => a < b ? -1 : 1).map((
      [kind, orderIds],
    ) => ({ kind, orderIds: [...orderIds].sort() })),
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
export function sumKinds(rows: Iterable<MonthRow>): KindTotal[] {
  const kinds = new Map<KindTotal["kind"], Groups>(
    [...ROW_KINDS, "all" as const].map((kind) => [kind, new Groups()]),
  );
  for (const row of rows) {
    kinds.get(row.kind)?.add(row, "", 1);
    kinds.get("all")?.add(row, "", 1);
  }
  return [...kinds].flatMap(([kind, groups]) =>
    groups.sorted().map(({ total: { orders, ...total } }) => ({
      kind,
      rows: orders,
      ...total,
    }))
  );
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
export function sumCurrencies(rows: Iterable<MonthRow>): CurrencyTotal[] {
  const groups = new Groups();
  for (const row of rows) {
    const money = { ...row.money, commodity: null, network: null };
    groups.add({ ...row, money }, "", 1);
  }
  return groups.sorted().map(({ total }) => {
    const { currency, orders: rows, ...sums } = total;
    const { cryptoAmount: _a, cryptoAmountUnknown: _u, ...others } = sums;
    const { commodity: _c, network: _n, ...ofCurrency } = others;
    return { currency, rows, ...ofCurrency };
  });
}

class Groups {
  readonly #groups = new Map<string, {
    readonly day: string;
    readonly money: Money;
    orders: number;
    readonly sums: readonly AmountSum[];
  }>();

  /** @param sign How a row counts. @default {-1 where it takes one back} */
  add(
    { kind, money }: MonthRow,
    day: string,
    sign: 1 | -1 = kind === "reversal" ? -1 : 1,
  ): void {
    const key = JSON.stringify([day, ...UNITS.map((unit) => money[unit])]);
    const sums = AMOUNTS.map(() => new AmountSum());
    const group = this.#groups.get(key) ?? { day, money, orders: 0, sums };
    this.#groups.set(key, group);
    group.orders += sign;
    for (const [at, field] of AMOUNTS.entries()) {
      group.sums[at]?.add(money[field], sign);
    }
  }

  sorted(): { readonly day: string; readonly total: MonthTotal }[] {
    return [...this.#groups].sort(([a], [b]) => a < b ? -1 : 1).map(
      ([, { day, money, orders, sums }]) => ({
        day,
        total: {
          ...Object.fromEntries(UNITS.map((unit) => [unit, money[unit]])),
          orders,
          ...Object.fromEntries(
            AMOUNTS.flatMap((field, at) => [
              [field, sums[at]?.known ?? null],
              [`${field}Unknown`, sums[at]?.unknown ?? 0],
            ]),
          ),
        } as MonthTotal,
      }),
    );
  }
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

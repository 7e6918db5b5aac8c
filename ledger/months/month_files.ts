/** The sums and the files of a month, and how its rows are read back from one. */
import { createHash } from "node:crypto";
import {
  type CsvCell,
  type CsvForm,
  csvLine,
  csvRows,
} from "../../core/csv/csv.ts";
import { recordBy } from "../../core/guards.ts";
import { printableJson } from "../../core/text.ts";
import type { MonthClosedFile } from "../events/event.ts";
import {
  AMOUNTS,
  AmountSum,
  type BookBy,
  type Exclusion,
  type Money,
  type MonthRow,
  type MonthRowKind,
  ROW_KINDS,
  UNITS,
} from "./month_row.ts";

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

/** Adds up the rows of a month, in exact decimals. */
export function sumMonth(rows: readonly MonthRow[]): MonthSums {
  const totals = (own: readonly MonthRow[]) =>
    sumRows<MonthTotal>(own, { count: "orders" });
  const odd = rows.flatMap(({ orderId, anomalies }) =>
    anomalies.map((kind) => ({ kind, orderId }))
  );
  return {
    rows: recordBy(ROW_KINDS)((kind) =>
      rows.filter((row) => row.kind === kind).length
    ),
    totals: totals(rows),
    days: sortedGroups(rows, ({ day }) => day).flatMap(([day, own]) =>
      totals(own).map((total) => ({ day, ...total }))
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
  return [...ROW_KINDS, "all" as const].flatMap((kind) =>
    sumRows<Omit<KindTotal, "kind">>(
      rows.filter((row) => kind === "all" || row.kind === kind),
      { count: "rows" },
    ).map((total) => Object.assign({ kind, rows: 0 }, total))
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
export function sumCurrencies(rows: readonly MonthRow[]): CurrencyTotal[] {
  return sumRows(rows, { count: "rows", by: ["currency"], amounts: FIAT });
}

const FIAT = AMOUNTS.filter((field) => field !== "cryptoAmount");

/** Adds up rows of the same units. Of orders, one that is taken back counts against. */
function sumRows<Total>(
  rows: readonly MonthRow[],
  { count, by = UNITS, amounts = AMOUNTS }: {
    readonly count: "orders" | "rows";
    readonly by?: readonly (typeof UNITS)[number][];
    readonly amounts?: readonly (typeof AMOUNTS)[number][];
  },
): Total[] {
  const unitsOf = ({ money }: MonthRow) =>
    Object.fromEntries(by.map((unit) => [unit, money[unit]]));
  return sortedGroups(
    rows,
    (row) => JSON.stringify(Object.values(unitsOf(row))),
  )
    .map(([, own]) => {
      const signs = own.map(({ kind }) =>
        count === "orders" && kind === "reversal" ? -1 : 1
      );
      const sums = amounts.flatMap((field) => {
        const sum = new AmountSum();
        own.forEach(({ money }, at) => sum.add(money[field], signs[at] ?? 1));
        return [[field, sum.known], [`${field}Unknown`, sum.unknown]];
      });
      return {
        ...unitsOf(own[0] as MonthRow),
        [count]: signs.reduce((sum: number, sign) => sum + sign, 0),
        ...Object.fromEntries(sums),
      };
    });
}

function sortedGroups<One>(
  all: readonly One[],
  keyOf: (one: One) => string,
): (readonly [key: string, own: readonly One[]])[] {
  return [...Map.groupBy(all, keyOf)].sort(([a], [b]) => a < b ? -1 : 1);
}

/** Columns of a file; only ever added to, at the end. */
type Columns<Row> =
  readonly (readonly [title: string, cell: (row: Row) => CsvCell])[];

const own = (text: string | null): CsvCell => ({ own: text ?? "" });

/** Columns that tell what a row is, as they begin `booked.csv` and `orders.csv`. */
export const FIRST_COLUMNS: Columns<MonthRow> = [
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

/** The column of each field of money, in the order of `items.csv`. */
const TITLES: Readonly<Record<keyof Money, string>> = {
  currency: "currency",
  currencyAmount: "currency_amount",
  commodity: "commodity",
  network: "network",
  cryptoAmount: "crypto_amount",
  partnerFeeUsd: "partner_fee_usd",
  serviceFeeUsd: "service_fee_usd",
};
const MONEY = Object.entries(TITLES) as [keyof Money, string][];

const isUnit = (field: keyof Money) => UNITS.some((unit) => unit === field);

const ITEMS: Columns<MonthRow> = [
  ...FIRST_COLUMNS,
  ...WHEN,
  ...MONEY.map(([field, title]): Columns<MonthRow>[number] => [
    title,
    ({ money: { [field]: value } }) =>
      isUnit(field) ? value ?? "" : { amount: value ?? "" },
  ]),
  ...HOW_SURE,
  ["witness_final", ({ witness }) => own(witness.final)],
  ["witness_block", ({ witness }) => own(witness.block)],
];

/** Columns of an amount: as a text with every digit, and as a number to add up. */
function amountColumns<Row>(
  field: (typeof AMOUNTS)[number],
  amountOf: (row: Row) => string | null | undefined,
): Columns<Row> {
  return [
    [`${TITLES[field]}_text`, (row) => ({ exact: amountOf(row) ?? "" })],
    [`${TITLES[field]}_number`, (row) => ({ rounded: amountOf(row) ?? "" })],
  ];
}

/** Columns of `booked.csv` behind these: what an erasure never changes. */
export const BOOKED_COLUMNS: Columns<MonthRow> = [
  ["network", ({ money }) => money.network ?? ""],
  ["commodity", ({ money }) => money.commodity ?? ""],
  ["currency", ({ money }) => money.currency ?? ""],
  ...AMOUNTS.flatMap((field) =>
    amountColumns<MonthRow>(field, ({ money }) => money[field])
  ),
  ...WHEN,
  ...HOW_SURE,
];

/** Columns of sums: each as a text, as a number, and what is in it. */
function sumColumns(
  amounts: readonly (typeof AMOUNTS)[number][],
): Columns<Pick<KindTotal, "rows"> & Partial<KindTotal>> {
  return amounts.flatMap((field) => {
    const unknown = (total: Partial<KindTotal>) =>
      total[`${field}Unknown`] ?? 0;
    return [
      ...amountColumns<Partial<KindTotal>>(field, (total) => total[field]),
      [
        `${TITLES[field]}_known`,
        (total) => own(`${total.rows - unknown(total)}`),
      ],
      [`${TITLES[field]}_unknown`, (total) => own(`${unknown(total)}`)],
    ];
  });
}

const TOTALS: Columns<KindTotal> = [
  ["kind", ({ kind }) => own(kind)],
  ["currency", ({ currency }) => currency ?? ""],
  ["commodity", ({ commodity }) => commodity ?? ""],
  ["network", ({ network }) => network ?? ""],
  ["rows", ({ rows }) => own(`${rows}`)],
  ...sumColumns(AMOUNTS),
];

const CURRENCIES: Columns<CurrencyTotal> = [
  ["currency", ({ currency }) => currency ?? ""],
  ["rows", ({ rows }) => own(`${rows}`)],
  ...sumColumns(FIAT),
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

type SheetName = "items.csv" | "totals.csv" | "currencies.csv" | "booked.csv";

/**
 * The sheets of a month, in exact decimals: its rows, its sums by kind, currency and
 * asset, which add up to the month, its sums by currency, and what of `orders.csv` an
 * erasure never changes.
 */
export const SHEETS: Readonly<
  Record<SheetName, (rows: readonly MonthRow[], form?: CsvForm) => string>
> = {
  "items.csv": (rows, form) => sheet(ITEMS, rows, form),
  "totals.csv": (rows, form) => {
    const kinds = sumKinds(rows).filter(({ kind }) => kind !== "all");
    return sheet(TOTALS, kinds, form);
  },
  "currencies.csv": (rows, form) =>
    sheet(CURRENCIES, sumCurrencies(rows), form),
  "booked.csv": (rows, form) =>
    sheet([...FIRST_COLUMNS, ...BOOKED_COLUMNS], rows, form),
};

export function sha256Of(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}

/** The files that a closing stores. */
export function monthFiles(
  { summary, rows }: {
    readonly summary: MonthSummary;
    readonly rows: readonly MonthRow[];
  },
): MonthClosedFile[] {
  const sheets = Object.entries(SHEETS).map(([name, write]) =>
    [name, write(rows)] as const
  );
  // One key order, two spaces.
  const sums = ["summary.json", `${printableJson(summary, 2)}\n`] as const;
  return [sums, ...sheets].map(([name, text]) => ({
    ...{ name, sha256: sha256Of(text), text },
  }));
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
      MONEY.map(([field, title]) => [field, filled(title)]),
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

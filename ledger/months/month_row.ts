// @ts-types="@types/big.js"
import Big from "big.js";
import { isDecimal } from "../../core/decimal.ts";

/** Every time of an order that can decide its month. */
export const BOOK_BY = ["created", "completed", "confirmed"] as const;

/**
 * Which time of an order decides its month.
 *
 * - `created`: when the service created the order.
 * - `completed`: the earliest `changed_at` with which it showed success.
 * - `confirmed`: when this ledger first recorded a reading that shows success.
 */
export type BookBy = (typeof BOOK_BY)[number];

/** Every reason why a row is in a month. */
export const ROW_KINDS = [
  "order",
  "late",
  "reversal",
  "restatement",
] as const;

/**
 * Why a row is in a month.
 *
 * - `order`: an order of this month.
 * - `late`: an order of a closed month that became known after its closing.
 * - `reversal`: takes back what a closed month booked.
 * - `restatement`: what the service says instead, booked again.
 */
export type MonthRowKind = (typeof ROW_KINDS)[number];

/**
 * The times of an order that can decide its month, UTC ISO 8601; null when not
 * known.
 */
export type OrderTimes = Readonly<Record<BookBy, string | null>>;

/** One line of a month's books. It holds no personal data. */
export interface MonthRow {
  /** Why it is there. */
  readonly kind: MonthRowKind;
  /** Day of the time zone on which it is booked. */
  readonly day: string;
  /** The order. */
  readonly orderId: string;
  /** Month of the order itself; that of `day` for an order of this month. */
  readonly ofMonth: string;
  /** Which time decided `ofMonth`: the chosen one, else `confirmed`. */
  readonly datedBy: BookBy;
  /** Its times, UTC ISO 8601. */
  readonly times: OrderTimes;
  /** When the ledger learnt what this row says, UTC ISO 8601. */
  readonly knownAt: string;
  /** What is booked; negative where it is taken back. */
  readonly money: Money;
  /** Kinds of anomaly that affect money. */
  readonly anomalies: readonly string[];
  /** What the partner's nodes showed of it when the month was closed. */
  readonly witness: MonthWitness;
}

/** What the partner's nodes showed of an order; empty texts where nobody looked. */
export interface MonthWitness {
  /** Their verdict. */
  readonly verdict: string;
  /** `yes` where it was final, else `no`. */
  readonly final: string;
  /** Height of the block. */
  readonly block: string;
}

/** Amounts booked for an order; null means unknown, not zero. */
export interface Money {
  /** Fiat currency, upper case. */
  readonly currency: string | null;
  /** Amount in `currency`, a decimal string. */
  readonly currencyAmount: string | null;
  /** Asset code, upper case. */
  readonly commodity: string | null;
  /** Network of the asset. */
  readonly network: string | null;
  /** Amount of the asset, a decimal string. */
  readonly cryptoAmount: string | null;
  /** The partner's fee in USD, a decimal string. */
  readonly partnerFeeUsd: string | null;
  /** The service's fee in USD, a decimal string. */
  readonly serviceFeeUsd: string | null;
}

/** The fields of {@linkcode Money} that are amounts. */
export const AMOUNTS = [
  "currencyAmount",
  "cryptoAmount",
  "partnerFeeUsd",
  "serviceFeeUsd",
] as const;

/** The fields of {@linkcode Money} that are units. */
export const UNITS = ["currency", "commodity", "network"] as const;

/** Whether both are the same money: amounts by value, the rest as text. */
export function isSameMoney(a: Money | null, b: Money | null): boolean {
  if (a === null || b === null) return a === b;
  return UNITS.every((field) => a[field] === b[field]) &&
    AMOUNTS.every((field) => isSameAmount(a[field], b[field]));
}

function isSameAmount(a: string | null, b: string | null): boolean {
  return a === null || b === null ? a === b : new Big(a).eq(new Big(b));
}

/** The same money taken back: unknown amounts stay unknown. */
export function negated(money: Money): Money {
  const taken = AMOUNTS.map((field) => [field, minus(money[field])]);
  return { ...money, ...Object.fromEntries(taken) };
}

function minus(amount: string | null): string | null {
  if (amount === null) return null;
  if (amount.startsWith("-")) return amount.slice(1);
  return new Big(amount).eq(0) ? amount : `-${amount}`;
}

/**
 * An amount as it is booked: a plain decimal as stated; null when it is not an
 * amount that can be added up.
 */
export function bookedAmount(stated: string | null): string | null {
  if (stated === null) return null;
  try {
    const value = new Big(stated);
    // A forged exponent would write out as many digits as it names.
    if (Math.abs(value.e) > 100) return null;
    return isDecimal(stated) ? stated : value.toFixed();
  } catch {
    return null;
  }
}

/** Adds up known amounts, and counts unknown ones. */
export class AmountSum {
  #known: Big | null = null;
  #unknown = 0;

  /** Adds an amount of a row; `sign` is -1 for a row that takes one back. */
  add(amount: string | null, sign: 1 | -1): void {
    if (amount === null) this.#unknown += sign;
    else this.#known = (this.#known ?? new Big(0)).plus(amount);
  }

  /** The exact sum of the known ones; null where none is known. */
  get known(): string | null {
    return this.#known?.toFixed() ?? null;
  }

  /** How many are not known. */
  get unknown(): number {
    return this.#unknown;
  }
}

/**
 * Finds the day of a time zone in which a moment lies, by the time zone data of
 * the runtime.
 *
 * @throws {RangeError} When there is no such time zone.
 */
export function localDay(timeZone: string): (time: string) => string {
  const format = new Intl.DateTimeFormat("en-u-ca-gregory-nu-latn", {
    timeZone,
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
  });
  return (time) => {
    const part: Record<string, string> = {};
    for (const { type, value } of format.formatToParts(Date.parse(time))) {
      part[type] = value;
    }
    return `${part.year?.padStart(4, "0")}-${part.month}-${part.day}`;
  };
}

/** The month of a day: `2026-11` of `2026-11-20`. */
export function monthOf(day: string): string {
  return day.slice(0, 7);
}

/** The month after a month: `2027-01` after `2026-12`. */
export function monthAfter(month: string): string {
  const [year = "", number = ""] = month.split("-");
  return number === "12"
    ? `${String(Number(year) + 1).padStart(4, "0")}-01`
    : `${year}-${String(Number(number) + 1).padStart(2, "0")}`;
}

// @ts-types="@types/big.js"
import Big from "big.js";
import { isDecimal } from "../../core/decimal.ts";
import { printable } from "../../core/text.ts";
import type { Fact, OrderSnapshotFact } from "../events/fact.ts";
import type { OrderReading } from "../events/readings.ts";
import { compareTimes } from "../events/time.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import type { ResolveOptions } from "../orders/order_status.ts";
import { orderState } from "../states/order_state.ts";

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
function isSameMoney(a: Money | null, b: Money | null): boolean {
  if (a === null || b === null) return a === b;
  return UNITS.every((field) => a[field] === b[field]) &&
    AMOUNTS.every((field) => {
      const [one, other] = [a[field], b[field]];
      return one === null || other === null
        ? one === other
        : new Big(one).eq(other);
    });
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
  const next = new Date(`${month}-01`);
  next.setUTCMonth(next.getUTCMonth() + 1);
  return monthOf(next.toISOString());
}

/** What closed months have booked of an order. */
export interface BookedBefore {
  /** What is booked; null once it was taken back. */
  readonly money: Money | null;
  readonly ofMonth: string;
  readonly datedBy: BookBy;
  /** Position of the last event that the closing knew which booked it last. */
  readonly closedAt: number;
}

/** The month that is closed, and how. */
export interface Closing extends ResolveOptions {
  /** The month, `2026-11`. */
  readonly month: string;
  /** Which time of an order decides its month. */
  readonly bookBy: BookBy;
  /** Day of a moment in the time zone of the books. */
  readonly day: (time: string) => string;
  /** The first month that was ever closed; this one when none was. */
  readonly firstMonth: string;
}

/** Every reason why an order of a month is not booked. */
export const EXCLUSIONS = [
  "unconfirmed",
  "reversed",
  "before_first_month",
  "erased",
  "unclear",
] as const;

/**
 * Why an order of the month is not booked.
 *
 * - `unconfirmed`: only webhooks say that it succeeded.
 * - `reversed`: the service had taken its success back before the closing.
 * - `before_first_month`: it became known in this month, and belongs to one
 *   before the first that was closed.
 * - `erased`: its readings were erased.
 * - `unclear`: it had succeeded, and the service does not show it any more, or
 *   with a status that is not known. What a closed month has booked stands.
 */
export type Exclusion = (typeof EXCLUSIONS)[number];

/** What an order adds to a month. */
interface DecidedRows {
  /** Its rows, a reversal before its restatement. */
  readonly rows: readonly MonthRow[];
  /** Why it is left out; null when it is booked or of another month. */
  readonly excluded: Exclusion | null;
  /** Whether every reading of it was erased, so that nothing is known of it. */
  readonly isErased: boolean;
}

/**
 * Decides what an order adds to a month. An order is booked once, in its own
 * month or, when that was closed before it was known, in the month in which it
 * became known. What a closed month booked is never changed: what the service
 * changes later is a row of the month in which that became known. Only readings of
 * the service count: a claim of a webhook is never booked.
 */
export function decideRows(
  { fold, facts }: {
    readonly fold: OrderFold;
    /** What it is folded of, by position. */
    readonly facts: readonly Fact[];
  },
  before: BookedBefore | null,
  closing: Closing,
): DecidedRows {
  const { month, bookBy, day, firstMonth } = closing;
  const monthAt = (time: string) => monthOf(day(time));
  const readings = facts.filter((fact) => fact.kind === "order_snapshot");
  const successes = readings.filter(isOfSuccess);
  const isErased = readings.length === 0 &&
    facts.some((fact) =>
      fact.kind === "unreadable" && fact.label === "order_snapshot"
    );
  const adds = (...rows: MonthRow[]): DecidedRows => ({
    ...{ rows, excluded: null, isErased },
  });
  const leftOut = (why: Exclusion, time: string): DecidedRows => ({
    ...{ rows: [], isErased },
    excluded: monthAt(time) === month ? why : null,
  });
  // What was known in an earlier month, and stored after that was closed, is booked
  // on the first.
  const correctionDay = (knownAt: string) =>
    monthAt(knownAt) === month ? day(knownAt) : `${month}-01`;

  const { firstAt } = fold.activity;
  if (firstAt === null) return adds();
  const state = orderState(fold, closing);
  const money = state.booked === "sale" && fold.latest !== null
    ? moneyOf(fold.latest)
    : null;
  const unclearAt = state.booked === "nothing" && successes.length > 0
    ? unclearSince(fold, facts)
    : null;
  const completed = fold.observedStatuses.find(({ status }) =>
    status === "success"
  );
  const confirmed = learnt(successes)[0] ?? null;
  const kinds = state.anomalies.map(({ kind }) => kind);
  const { verdict = "", final, blockHeight } = state.witness ?? {};
  const row = {
    orderId: fold.orderId,
    times: {
      created: fold.createdAt,
      ...{ completed: completed?.first || null, confirmed },
    },
    anomalies: [...new Set(kinds)].filter((kind) => ABOUT_MONEY.has(kind)),
    witness: {
      ...{ verdict, final: state.witness ? final ? "yes" : "no" : "" },
      block: String(blockHeight ?? ""),
    },
  };

  if (before === null) {
    if (isErased) return leftOut("erased", firstAt);
    if (state.status === "success" && state.trust === "claimed") {
      return leftOut("unconfirmed", firstAt);
    }
    // What the service does not state is dated by when it was known.
    const datedBy = row.times[bookBy] === null ? "confirmed" : bookBy;
    const time = row.times[datedBy];
    if (time === null || confirmed === null) return adds();
    const ownDay = day(time);
    const ofMonth = monthOf(ownDay);
    if (ofMonth > month) return adds();
    if (money === null) {
      return leftOut(unclearAt === null ? "reversed" : "unclear", time);
    }
    if (ofMonth < firstMonth) return leftOut("before_first_month", confirmed);
    const booked = { ...row, ofMonth, datedBy, money, knownAt: confirmed };
    if (ofMonth === month) {
      return adds({ ...booked, kind: "order", day: ownDay });
    }
    return monthAt(confirmed) > month
      ? adds()
      : adds({ ...booked, kind: "late", day: correctionDay(confirmed) });
  }

  if (isErased || isSameMoney(money, before.money)) return adds();
  if (unclearAt !== null) return leftOut("unclear", unclearAt);
  // The earliest that says so, or the latest if none does, because it followed
  // from others then.
  const saying = readings.filter((fact) =>
    fact.position > before.closedAt &&
    isSameMoney(isOfSuccess(fact) ? moneyOf(fact.reading) : null, money)
  );
  const knownAt = learnt(saying)[0] ?? learnt(readings).at(-1) ?? firstAt;
  if (monthAt(knownAt) > month) return adds();
  const { ofMonth, datedBy } = before;
  const corrected = {
    ...{ ...row, ofMonth, datedBy, knownAt, day: correctionDay(knownAt) },
  };
  const rows: MonthRow[] = [];
  if (before.money !== null) {
    const money = negated(before.money);
    rows.push({ ...corrected, kind: "reversal", money });
  }
  if (money !== null) rows.push({ ...corrected, kind: "restatement", money });
  return adds(...rows);
}

function isOfSuccess({ reading }: OrderSnapshotFact): boolean {
  return reading.status === "success";
}

/** When the ledger learnt facts, the earliest first. */
function learnt(facts: readonly Fact[]): string[] {
  return facts.map(({ recordedAt }) => recordedAt).sort(compareTimes);
}

/**
 * Since when a success is unclear: the service does not show the order any more, or
 * with a status that is not known.
 */
function unclearSince(
  { seenAt, latest }: OrderFold,
  facts: readonly Fact[],
): string | null {
  const unclear = facts.filter((fact) =>
    fact.kind === "order_absent"
      ? compareTimes(fact.readAt, seenAt ?? "") > 0
      : fact.kind === "order_snapshot" && fact.reading === latest &&
        latest.status !== "success"
  );
  return learnt(unclear)[0] ?? null;
}

function moneyOf(reading: OrderReading): Money {
  // As a file of the books gives it back, so that what it booked compares.
  const unit = (text: string | null) => printable(text ?? "") || null;
  return {
    currency: unit(reading.currency),
    currencyAmount: bookedAmount(reading.currencyAmount),
    commodity: unit(reading.commodity),
    network: unit(reading.network),
    cryptoAmount: bookedAmount(reading.cryptoAmount),
    partnerFeeUsd: bookedAmount(reading.partnerFee),
    serviceFeeUsd: bookedAmount(reading.serviceFee),
  };
}

/** Anomalies that change what was sold, to whom it is owed, or how sure it is. */
const ABOUT_MONEY: ReadonlySet<string> = new Set([
  "amount_mismatch",
  "asset_mismatch",
  "transaction_mismatch",
  "success_without_transaction",
  "contested",
  "final_changed",
  "absent",
  "unreadable_field",
]);

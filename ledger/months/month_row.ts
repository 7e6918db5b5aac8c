import type { Money } from "./money.ts";

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
  /** Kinds of anomaly that bear on money. */
  readonly anomalies: readonly string[];
}

import { monthOf } from "./local_day.ts";
import {
  type BookBy,
  isSameMoney,
  type Money,
  type MonthRow,
  negated,
} from "./month_row.ts";
import type { OrderBooks } from "./order_books.ts";

/** What closed months have booked of an order. */
export interface BookedBefore {
  /** What is booked; null once it was taken back. */
  readonly money: Money | null;
  readonly ofMonth: string;
  readonly datedBy: BookBy;
  /** Position of the closing that booked it last. */
  readonly closedAt: number;
}

/** The month that is closed, and how. */
export interface Closing {
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
}

const NOTHING: DecidedRows = { rows: [], excluded: null };

/**
 * Decides what an order adds to a month. An order is booked once, in its own
 * month or, when that was closed before it was known, in the month in which it
 * became known. What a closed month booked is never changed: what the service
 * changes later is a row of the month in which that became known.
 */
export function decideRows(
  order: OrderBooks,
  before: BookedBefore | null,
  closing: Closing,
): DecidedRows {
  return before === null
    ? decideFirst(order, closing)
    : decideCorrection(order, before, closing);
}

/** An order that no closed month has booked. */
function decideFirst(order: OrderBooks, closing: Closing): DecidedRows {
  const { month, bookBy, day, firstMonth } = closing;
  const { row: { times }, money } = order;
  if (order.isClaimedOnly || (order.isErased && money === null)) {
    return monthOf(day(order.firstHeardAt)) === month
      ? { rows: [], excluded: order.isErased ? "erased" : "unconfirmed" }
      : NOTHING;
  }
  // What the service does not state is dated by when it was known.
  const datedBy = times[bookBy] === null ? "confirmed" : bookBy;
  const time = times[datedBy];
  if (time === null || times.confirmed === null) return NOTHING;
  const ownDay = day(time);
  const ofMonth = monthOf(ownDay);
  if (ofMonth > month) return NOTHING;
  if (money === null) {
    if (ofMonth !== month) return NOTHING;
    const excluded = order.unclearSince === null ? "reversed" : "unclear";
    return { rows: [], excluded };
  }
  const row = { ...order.row, ofMonth, datedBy, money };
  const knownAt = times.confirmed;
  const booked = (kind: "order" | "late", day: string): DecidedRows => ({
    rows: [{ ...row, kind, day, knownAt }],
    excluded: null,
  });
  if (ofMonth === month) return booked("order", ownDay);
  const known = monthOf(day(knownAt));
  if (ofMonth < firstMonth) {
    return known === month
      ? { rows: [], excluded: "before_first_month" }
      : NOTHING;
  }
  if (known > month) return NOTHING;
  return booked("late", correctionDay(knownAt, closing));
}

/** An order that a closed month has booked. */
function decideCorrection(
  order: OrderBooks,
  before: BookedBefore,
  closing: Closing,
): DecidedRows {
  const { money, unclearSince } = order;
  if (isSameMoney(money, before.money)) return NOTHING;
  if (money === null && order.isErased) return NOTHING;
  if (unclearSince !== null) {
    return monthOf(closing.day(unclearSince)) === closing.month
      ? { rows: [], excluded: "unclear" }
      : NOTHING;
  }
  const knownAt = order.knownAt(before.closedAt);
  if (monthOf(closing.day(knownAt)) > closing.month) return NOTHING;
  const { ofMonth, datedBy } = before;
  const day = correctionDay(knownAt, closing);
  const row = { ...order.row, ofMonth, datedBy, knownAt, day };
  const rows: MonthRow[] = [];
  if (before.money !== null) {
    rows.push({ ...row, kind: "reversal", money: negated(before.money) });
  }
  if (money !== null) rows.push({ ...row, kind: "restatement", money });
  return { rows, excluded: null };
}

/** The day on which it became known. What was known in an earlier month, and
 * stored after that was closed, is booked on the first. */
function correctionDay(knownAt: string, { month, day }: Closing): string {
  const known = day(knownAt);
  return monthOf(known) === month ? known : `${month}-01`;
}

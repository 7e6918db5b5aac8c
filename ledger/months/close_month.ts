import process from "node:process";
import type { NewEvent } from "../events/event.ts";
import { record } from "../events/record.ts";
import { currenciesFile, totalsFile } from "./totals_files.ts";
import { itemsFile } from "./items_file.ts";
import { localDay, monthAfter, monthOf } from "./local_day.ts";
import { type MonthClose, monthFile } from "./month_close.ts";
import {
  type MonthsParts,
  type MonthWork,
  workOutMonth,
} from "./month_books.ts";
import type { BookBy } from "./month_row.ts";
import { monthSummary, summaryFile } from "./month_summary.ts";
import { readBooks, readMonth } from "./stored_months.ts";

/** How to close a month. */
export interface CloseMonthOptions extends MonthWork {
  /**
   * IANA name of the time zone of its days.
   *
   * @default that of the month closed last
   */
  readonly timeZone?: string;
  /**
   * Which time of an order decides its month.
   *
   * @default that of the month closed last
   */
  readonly bookBy?: BookBy;
  /**
   * Closes a month that is not over: what comes later is booked as late.
   *
   * @default false
   */
  readonly beforeEnd?: boolean;
}

/** Why a month was not closed. */
export type MonthRefusal =
  /** It is closed, and never changes. */
  | { readonly code: "already_closed"; readonly first: MonthClose }
  /** Months are closed in their order, without a gap. */
  | { readonly code: "not_next"; readonly next: string }
  /** It is not over in the time zone. */
  | { readonly code: "not_over"; readonly today: string }
  /** The first month needs its time zone and the time to book by. */
  | { readonly code: "terms_missing" };

/** Result of closing a month. */
export type MonthClosing =
  | { readonly closed: MonthClose; readonly refused: null }
  | { readonly closed: null; readonly refused: MonthRefusal };

/** Computes a month and stores it; see {@linkcode Months.close}. */
export async function closeMonth(
  parts: MonthsParts,
  month: string,
  options: CloseMonthOptions,
): Promise<MonthClosing> {
  const { store: months, foldVersion } = parts;
  const first = await readMonth(months, month);
  if (first !== null) return refused({ code: "already_closed", first });
  const { before, firstMonth, last } = await readBooks(months, null);
  if (last !== null && monthAfter(last.month) !== month) {
    return refused({ code: "not_next", next: monthAfter(last.month) });
  }
  const { timeZone = last?.timeZone, bookBy = last?.bookBy } = options;
  if (timeZone === undefined || bookBy === undefined) {
    return refused({ code: "terms_missing" });
  }
  const day = localDay(timeZone);
  const recordedAt = new Date(parts.now()).toISOString();
  const today = day(recordedAt);
  const isOver = monthOf(today) > month;
  const isClosedEarly = monthOf(today) === month && options.beforeEnd === true;
  if (!isOver && !isClosedEarly) return refused({ code: "not_over", today });
  const asOf = await months.head();
  const books = await workOutMonth(parts, {
    ...options,
    position: asOf.position,
    closing: { month, bookBy, day, firstMonth: firstMonth ?? month },
    before,
  });
  const timeZoneVersion = process.versions.tz ?? null;
  const summary = monthSummary({
    month,
    timeZone,
    timeZoneVersion,
    bookBy,
    asOf,
    foldVersion,
  }, books);
  return await store(
    parts,
    month,
    record("month_closed", {
      month,
      time_zone: timeZone,
      time_zone_version: timeZoneVersion,
      book_by: bookBy,
      ...asOf,
      fold_version: foldVersion,
      files: [
        monthFile("summary.json", summaryFile(summary)),
        monthFile("items.csv", itemsFile(books.rows)),
        monthFile("totals.csv", totalsFile(books.rows)),
        monthFile("currencies.csv", currenciesFile(books.rows)),
      ],
    }, { recordedAt, salt: parts.randomBytes(16) }),
  );
}

/** Another process may close the month meanwhile: the first one stands. */
async function store(
  { store: months, append }: MonthsParts,
  month: string,
  event: NewEvent,
): Promise<MonthClosing> {
  await append([event]);
  const stored = await readMonth(months, month);
  if (stored === null) {
    throw new Error(`Cannot find the month ${month} that was just closed`);
  }
  return stored.digest === event.digest
    ? { closed: stored, refused: null }
    : refused({ code: "already_closed", first: stored });
}

function refused(refusal: MonthRefusal): MonthClosing {
  return { closed: null, refused: refusal };
}

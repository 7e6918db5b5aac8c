import process from "node:process";
import { localDay } from "./local_day.ts";
import { workOutMonth } from "./month_books.ts";
import type { BookBy, MonthRow } from "./month_row.ts";
import { type MonthSummary, sumMonth } from "./month_summary.ts";
import type { MonthsParts, MonthWork } from "./months_parts.ts";
import { readBooks, readHead } from "./stored_months.ts";

/** How to look at the books of a month that is not closed. */
export interface PreviewMonthOptions extends MonthWork {
  /**
   * IANA name of the time zone of its days.
   *
   * @default {that of the month closed last, else UTC}
   */
  readonly timeZone?: string;
  /**
   * Which time of an order decides its month.
   *
   * @default {that of the month closed last, else "confirmed"}
   */
  readonly bookBy?: BookBy;
}

/** The books of a month that is not closed, as they are now. */
export interface MonthPreview {
  /** What its `summary.json` would hold. */
  readonly summary: MonthSummary;
  /** The rows of its `items.csv`. */
  readonly rows: readonly MonthRow[];
}

/** Works out an open month without storing it; see `Months.preview`. */
export async function previewMonth(
  parts: MonthsParts,
  month: string,
  options: PreviewMonthOptions,
): Promise<MonthPreview> {
  const { before, firstMonth, last } = await readBooks(parts.driver, month);
  const {
    timeZone = last?.timeZone ?? "UTC",
    bookBy = last?.bookBy ?? "confirmed",
  } = options;
  const asOf = await readHead(parts.driver);
  const { rows, excluded, unclear } = await workOutMonth(parts, {
    ...options,
    position: asOf.position,
    closing: {
      month,
      bookBy,
      day: localDay(timeZone),
      firstMonth: firstMonth ?? month,
    },
    before,
  });
  const summary: MonthSummary = {
    month,
    timeZone,
    timeZoneVersion: process.versions.tz ?? null,
    bookBy,
    asOf,
    foldVersion: parts.foldVersion,
    ...sumMonth(rows),
    excluded,
    unclear,
  };
  return { summary, rows };
}

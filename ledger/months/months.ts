import process from "node:process";
import {
  closeMonth,
  type CloseMonthOptions,
  type MonthClosing,
} from "./close_month.ts";
import { localDay } from "./local_day.ts";
import {
  type MonthsParts,
  type MonthWork,
  workOutMonth,
} from "./month_books.ts";
import type { MonthClose } from "./month_close.ts";
import type { BookBy, MonthRow } from "./month_row.ts";
import { type MonthSummary, monthSummary } from "./month_summary.ts";
import { type MonthRecomputation, recomputeMonth } from "./recompute_month.ts";
import { listMonths, readBooks, readMonth } from "./stored_months.ts";

/** Months whose books are closed; a closed month never changes. */
export class Months {
  readonly #parts: MonthsParts;

  /**
   * Reads and closes months of a database; {@linkcode openLedger} makes one.
   *
   * @param parts What it works with.
   */
  constructor(parts: MonthsParts) {
    this.#parts = parts;
  }

  /**
   * Reads the closed months one by one, in their order.
   *
   * @throws {SyntaxError} When one cannot be read.
   * @throws {LedgerError} When the database fails.
   */
  list(): AsyncGenerator<MonthClose> {
    return listMonths(this.#parts.store);
  }

  /**
   * Reads a closed month, byte for byte as it was closed.
   *
   * @param month `2026-11`.
   * @returns Null when it is not closed.
   * @throws {RangeError} When `month` is not a month.
   * @throws {SyntaxError} When it cannot be read.
   * @throws {LedgerError} When the database fails.
   */
  async get(month: string): Promise<MonthClose | null> {
    checkMonth(month);
    return await readMonth(this.#parts.store, month);
  }

  /**
   * Closes a month: computes its books from what is known now, and stores them
   * as an event that the evidence chain covers. Only what the service itself
   * says is booked. What becomes known later is a row of a later month.
   *
   * @param month `2026-11`.
   * @param options Time zone, time to book by, signal and progress.
   * @returns The closed month, or why it was not closed.
   * @throws {RangeError} When `month` or the time zone does not exist.
   * @throws {SyntaxError} When an earlier closed month cannot be read.
   * @throws {LedgerError} When the database fails.
   *
   * @example Close a month, and try to close it again
   * ```ts
   * import { openLedger } from "@rampkit/onramp/ledger";
   * import assert from "node:assert/strict";
   *
   * await using ledger = await openLedger({
   *   url: ":memory:",
   *   environment: "sandbox",
   *   now: () => Date.parse("2026-12-02T08:00:00Z"),
   * });
   * const terms = { timeZone: "Europe/Berlin", bookBy: "confirmed" } as const;
   * const { closed } = await ledger.months.close("2026-11", terms);
   * assert.equal(closed?.month, "2026-11");
   * const { refused } = await ledger.months.close("2026-11", terms);
   * assert.equal(refused?.code, "already_closed");
   * ```
   */
  async close(
    month: string,
    options: CloseMonthOptions = {},
  ): Promise<MonthClosing> {
    checkMonth(month);
    return await closeMonth(this.#parts, month, options);
  }

  /**
   * Computes the books of a month that is not closed, as they are now, and
   * stores nothing. It reads every order, like {@linkcode Months.close}.
   *
   * @param month `2026-11`.
   * @param options Time zone, time to book by, signal and progress.
   * @returns What its files would hold.
   * @throws {RangeError} When `month` or the time zone does not exist.
   * @throws {SyntaxError} When an earlier closed month cannot be read.
   * @throws {LedgerError} When the database fails.
   */
  async preview(
    month: string,
    options: PreviewMonthOptions = {},
  ): Promise<MonthPreview> {
    checkMonth(month);
    return await previewMonth(this.#parts, month, options);
  }

  /**
   * Computes a closed month again from the events known at its closing, and
   * lists what has become known of its orders since.
   *
   * @param month `2026-11`.
   * @param work Signal and progress.
   * @returns Null when it is not closed.
   * @throws {RangeError} When `month` is not a month.
   * @throws {SyntaxError} When a closed month cannot be read.
   * @throws {LedgerError} When the database fails.
   */
  async recompute(
    month: string,
    work: MonthWork = {},
  ): Promise<MonthRecomputation | null> {
    const stored = await this.get(month);
    return stored === null
      ? null
      : await recomputeMonth(this.#parts, stored, work);
  }
}

function checkMonth(month: string): void {
  if (/^\d{4}-(0[1-9]|1[0-2])$/.test(month) && month < "9999-12") return;
  throw new RangeError(
    `Wrong month: ${JSON.stringify(month)} is not written as "2026-11"`,
  );
}

/** How to preview the books of a month that is not closed. */
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

/** Computes an open month without storing it; see `Months.preview`. */
async function previewMonth(
  parts: MonthsParts,
  month: string,
  options: PreviewMonthOptions,
): Promise<MonthPreview> {
  const { before, firstMonth, last } = await readBooks(parts.store, month);
  const {
    timeZone = last?.timeZone ?? "UTC",
    bookBy = last?.bookBy ?? "confirmed",
  } = options;
  const asOf = await parts.store.head();
  const books = await workOutMonth(parts, {
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
  const summary = monthSummary({
    month,
    timeZone,
    timeZoneVersion: process.versions.tz ?? null,
    bookBy,
    asOf,
    foldVersion: parts.foldVersion,
  }, books);
  return { summary, rows: books.rows };
}

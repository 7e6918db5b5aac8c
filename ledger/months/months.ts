import process from "node:process";
import { record } from "../events/record.ts";
import { localDay, monthAfter, monthOf } from "./local_day.ts";
import {
  type MonthsParts,
  type MonthWork,
  workOutMonth,
} from "./month_books.ts";
import type { MonthClose } from "./month_close.ts";
import { monthFiles } from "./month_files.ts";
import type { BookBy, MonthRow } from "./month_row.ts";
import type { MonthSummary, MonthTerms } from "./month_summary.ts";
import { type MonthRecomputation, recomputeMonth } from "./recompute_month.ts";
import { listMonths, readBooks, readHead, readMonth } from "./stored_months.ts";

/** Months whose books are closed; a closed month never changes. */
export class Months {
  readonly #parts: MonthsParts;

  /** {@linkcode openLedger} makes one. */
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
    return listMonths(this.#parts.driver);
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
    return await readMonth(this.#parts.driver, month);
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
    const { driver, now, randomBytes, append } = this.#parts;
    const first = await readMonth(driver, month);
    if (first !== null) return refused({ code: "already_closed", first });
    const before = await readBooks(driver, null);
    const { last } = before;
    if (last !== null && monthAfter(last.month) !== month) {
      return refused({ code: "not_next", next: monthAfter(last.month) });
    }
    const { timeZone = last?.timeZone, bookBy = last?.bookBy } = options;
    if (timeZone === undefined || bookBy === undefined) {
      return refused({ code: "terms_missing" });
    }
    const recordedAt = new Date(now()).toISOString();
    const today = localDay(timeZone)(recordedAt);
    const isOver = monthOf(today) > month;
    const isClosedEarly = monthOf(today) === month &&
      options.beforeEnd === true;
    if (!isOver && !isClosedEarly) return refused({ code: "not_over", today });
    const terms = await this.#termsNow({ month, timeZone, bookBy });
    const books = await workOutMonth(this.#parts, terms, before, options);
    const event = record("month_closed", {
      month,
      time_zone: timeZone,
      time_zone_version: terms.timeZoneVersion,
      book_by: bookBy,
      ...terms.asOf,
      fold_version: terms.foldVersion,
      files: monthFiles(books),
    }, { recordedAt, salt: randomBytes(16) });
    await append([event]);
    const stored = await readMonth(driver, month);
    if (stored === null) {
      throw new Error(`Cannot find the month ${month} that was just closed`);
    }
    // Another process may have closed the month meanwhile: the first one stands.
    return stored.digest === event.digest
      ? { closed: stored, refused: null }
      : refused({ code: "already_closed", first: stored });
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
    const before = await readBooks(this.#parts.driver, month);
    const {
      timeZone = before.last?.timeZone ?? "UTC",
      bookBy = before.last?.bookBy ?? "confirmed",
    } = options;
    const terms = await this.#termsNow({ month, timeZone, bookBy });
    const { summary, rows } = await workOutMonth(
      this.#parts,
      terms,
      before,
      options,
    );
    return { summary, rows };
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

  /** The terms of a month that is computed from what is known now. */
  async #termsNow(
    terms: Pick<MonthTerms, "month" | "timeZone" | "bookBy">,
  ): Promise<MonthTerms> {
    const { driver, folded, foldVersion } = this.#parts;
    await folded();
    const { month, timeZone, bookBy } = terms;
    const timeZoneVersion = process.versions.tz ?? null;
    const asOf = await readHead(driver);
    return { month, timeZone, timeZoneVersion, bookBy, asOf, foldVersion };
  }
}

function checkMonth(month: string): void {
  if (/^\d{4}-(0[1-9]|1[0-2])$/.test(month) && month < "9999-12") return;
  throw new RangeError(
    `Wrong month: ${JSON.stringify(month)} is not written as "2026-11"`,
  );
}

/** How to close a month. */
export interface CloseMonthOptions extends PreviewMonthOptions {
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

function refused(refusal: MonthRefusal): MonthClosing {
  return { closed: null, refused: refusal };
}

/** How to work out the books of a month that is not closed. */
export interface PreviewMonthOptions extends MonthWork {
  /**
   * IANA name of the time zone of its days.
   *
   * @default {that of the month closed last; of a preview without one UTC}
   */
  readonly timeZone?: string;
  /**
   * Which time of an order decides its month.
   *
   * @default {that of the month closed last; of a preview without one "confirmed"}
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

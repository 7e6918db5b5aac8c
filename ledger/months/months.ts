import process from "node:process";
import { printable } from "../../core/printable.ts";
import type { AssetTable } from "../../core/assets/environment.ts";
import type { NewEvent } from "../events/event.ts";
import { record } from "../events/record.ts";
import type { FoldCode } from "../projection/project.ts";
import { diffStates } from "../projection/state_changes.ts";
import type { Driver } from "../store/driver/driver.ts";
import { decideRows, type Exclusion, EXCLUSIONS } from "./decide_rows.ts";
import {
  itemsFile,
  monthFiles,
  type MonthSummary,
  type MonthTerms,
  readItems,
  sumMonth,
} from "./month_files.ts";
import {
  type BookBy,
  localDay,
  monthAfter,
  monthOf,
  type MonthRow,
  type MonthRowKind,
  ROW_KINDS,
} from "./month_row.ts";
import {
  addBooked,
  fileText,
  listMonths,
  type MonthClose,
  ordersAt,
  readBooks,
  readHead,
  readKnownPosition,
  readMonth,
  type StoredBooks,
} from "./stored_months.ts";

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
    const terms = { month, timeZone, bookBy };
    const books = await this.#booksNow(terms, before, options);
    const { timeZoneVersion, asOf, foldVersion } = books.summary;
    const event = record("month_closed", {
      month,
      time_zone: timeZone,
      time_zone_version: timeZoneVersion,
      book_by: bookBy,
      ...asOf,
      fold_version: foldVersion,
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
    const terms = { month, timeZone, bookBy };
    const { summary, rows } = await this.#booksNow(terms, before, options);
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

  /** The books of a month, computed from what is known now. */
  async #booksNow(
    terms: Pick<MonthTerms, "month" | "timeZone" | "bookBy">,
    before: StoredBooks,
    work: MonthWork,
  ): Promise<MonthBooks> {
    const { driver, folded, fold: { version: foldVersion } } = this.#parts;
    await folded();
    const timeZoneVersion = process.versions.tz ?? null;
    const asOf = await readHead(driver);
    const all = { ...terms, timeZoneVersion, asOf, foldVersion };
    return await workOutMonth(this.#parts, all, before, work);
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

/** A row that corrects a closed month. */
export interface MonthChange extends MonthRow {
  /** Closed month whose books hold the correction; null while none does. */
  readonly bookedIn: string | null;
}

/** A closed month, compared with what the ledger says now. */
export interface MonthRecomputation {
  /** The month as it was closed. */
  readonly stored: MonthClose;
  /** Where a new computation from the same events differs. */
  readonly differences: readonly MonthDifference[];
  /** Orders of it whose events were erased, so that nothing can be computed. */
  readonly erased: readonly string[];
  /** What became known of its orders since, on the day of `day`. */
  readonly changes: readonly MonthChange[];
}

/** Computes a closed month again; see {@linkcode Months.recompute}. */
async function recomputeMonth(
  parts: MonthsParts,
  stored: MonthClose,
  work: MonthWork,
): Promise<MonthRecomputation> {
  const { driver } = parts;
  const { month } = stored;
  const before = await readBooks(driver, month);
  const then = await workOutMonth(parts, stored, before, {
    ...work,
    past: await readKnownPosition(driver, stored),
  });
  const items = fileText(stored, "items.csv");
  const erased = new Set(
    [...readItems(items)].map(({ orderId }) => orderId)
      .filter((orderId) => then.erased.has(orderId)),
  );
  // Written and read back, so that both sides went through the same file.
  const differences = diffRows(
    readItems(items),
    readItems(itemsFile(then.rows)),
  ).filter(({ orderId }) => orderId === null || !erased.has(orderId));
  if (differences.length === 0 && erased.size === 0) {
    const sums = diffFields(
      { orderId: null, kind: null },
      JSON.parse(fileText(stored, "summary.json")),
      then.summary,
    );
    differences.push(...sums.filter(({ field }) => !VERSIONS.has(field)));
  }
  addBooked(before.booked, stored);
  await parts.folded();
  const now = await workOutMonth(
    parts,
    { ...stored, month: AFTER_ALL, asOf: await readHead(driver) },
    { booked: before.booked, firstMonth: before.firstMonth ?? month },
    work,
  );
  const corrected = await correctedIn(driver, month);
  const day = localDay(stored.timeZone);
  const changes = now.rows.filter(({ ofMonth }) => ofMonth === month).map(
    (row) => ({
      ...row,
      day: day(row.knownAt),
      bookedIn: corrected.get(row.orderId) ?? null,
    }),
  );
  return { stored, differences, erased: [...erased], changes };
}

/** Later than any month, so that everything that corrects one is in it. */
const AFTER_ALL = "9999-12";

/** Closed months after a month that correct it, by order. */
async function correctedIn(
  driver: Driver,
  month: string,
): Promise<ReadonlyMap<string, string>> {
  const corrected = new Map<string, string>();
  for await (const close of listMonths(driver)) {
    if (close.month <= month) continue;
    for (
      const { ofMonth, orderId } of readItems(fileText(close, "items.csv"))
    ) {
      if (ofMonth !== month || corrected.has(orderId)) continue;
      corrected.set(orderId, close.month);
    }
  }
  return corrected;
}

/** One field in which a stored month and its computation differ. */
export interface MonthDifference {
  /** The order; null for a field of the summary. */
  readonly orderId: string | null;
  /** Kind of the row; null for a field of the summary. */
  readonly kind: MonthRowKind | null;
  /** The field, dotted inside objects; `row` where one side has no such row. */
  readonly field: string;
  /** The stored value, for a row its day; null without one. */
  readonly stored: string | null;
  /** The computed value; likewise. */
  readonly computed: string | null;
}

/** Compares the rows of a month as stored and as computed. */
function diffRows(
  stored: Iterable<MonthRow>,
  computed: Iterable<MonthRow>,
): MonthDifference[] {
  const [before, after] = [byKey(stored), byKey(computed)];
  return [...new Map([...before, ...after])].flatMap(([key, row]) => {
    const [a, b] = [before.get(key), after.get(key)];
    if (a && b) return diffFields(row, a, b);
    const { orderId, kind } = row;
    const [stored, computed] = [a?.day ?? null, b?.day ?? null];
    return [{ orderId, kind, field: "row", stored, computed }];
  });
}

/** There is one row of an order and kind. */
function byKey(rows: Iterable<MonthRow>): Map<string, MonthRow> {
  return new Map(
    Array.from(rows, (row) => [JSON.stringify([row.orderId, row.kind]), row]),
  );
}

function diffFields(
  { orderId, kind }: Pick<MonthDifference, "orderId" | "kind">,
  stored: object,
  computed: object,
): MonthDifference[] {
  return diffStates(stored, computed).map(({ field, before, after }) => ({
    ...{ orderId, kind, field, stored: before, computed: after },
  }));
}

/** Fields of a summary that tell of versions of code and data alone. */
const VERSIONS: ReadonlySet<string> = new Set([
  "timeZoneVersion",
  "foldVersion",
  "asOf.position",
]);

/** The computed books of a month. */
interface MonthBooks {
  readonly summary: MonthSummary;
  /** Its rows, by day and order. */
  readonly rows: readonly MonthRow[];
  /** Orders whose readings were erased, of any month. */
  readonly erased: ReadonlySet<string>;
}

/** Computes the books of a month from what was known up to a position. */
async function workOutMonth(
  { driver, assets, fold: { readFact } }: MonthsParts,
  { month, timeZone, timeZoneVersion, bookBy, asOf, foldVersion }: MonthTerms,
  { booked, firstMonth }: Pick<StoredBooks, "booked" | "firstMonth">,
  { signal, onProgress, past = asOf.position }: MonthWork & {
    readonly past?: number;
  },
): Promise<MonthBooks> {
  const day = localDay(timeZone);
  const closing = {
    ...{ month, bookBy, day, assets },
    firstMonth: firstMonth ?? month,
  };
  const rows: MonthRow[] = [];
  const erased = new Set<string>();
  const unclear: string[] = [];
  const excluded = Object.fromEntries(
    EXCLUSIONS.map((reason) => [reason, 0]),
  ) as Record<Exclusion, number>;
  let count = 0;
  const orders = ordersAt(driver, { assets, readFact, signal, past });
  for await (const order of orders) {
    onProgress?.(++count);
    const { orderId } = order.fold;
    const before = booked.get(printable(orderId)) ?? null;
    const decided = decideRows(order, before, closing);
    rows.push(...decided.rows);
    if (decided.excluded !== null) excluded[decided.excluded]++;
    if (decided.excluded === "unclear") unclear.push(orderId);
    if (decided.isErased) erased.add(orderId);
  }
  rows.sort(compareRows);
  const summary = {
    ...{ month, timeZone, timeZoneVersion, bookBy, asOf, foldVersion },
    ...sumMonth(rows),
    excluded,
    unclear: unclear.sort(),
  };
  return { summary, rows, erased };
}

/** By day and order; a reversal before its restatement. */
function compareRows(a: MonthRow, b: MonthRow): number {
  if (a.day !== b.day) return a.day < b.day ? -1 : 1;
  if (a.orderId !== b.orderId) return a.orderId < b.orderId ? -1 : 1;
  return ROW_KINDS.indexOf(a.kind) - ROW_KINDS.indexOf(b.kind);
}

/** What {@linkcode Months} works with. */
export interface MonthsParts {
  readonly driver: Driver;
  readonly fold: FoldCode;
  /** Folds what waits: only what is folded is booked. */
  readonly folded: () => Promise<unknown>;
  /** Asset table that gives the precision of amounts. */
  readonly assets: AssetTable;
  /** The clock, in ms. */
  readonly now: () => number;
  /** Random bytes for salts. */
  readonly randomBytes: (length: number) => Uint8Array;
  /** Appends events; those stored already are skipped. */
  readonly append: (events: readonly NewEvent[]) => Promise<void>;
}

/** How to follow long work on a month. */
export interface MonthWork {
  /** Stops between two pages of orders. */
  readonly signal?: AbortSignal;
  /** Called with the number of orders read so far. */
  readonly onProgress?: (orders: number) => void;
}

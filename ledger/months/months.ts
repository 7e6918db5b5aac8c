import process from "node:process";
import { jsonRecord, recordBy } from "../../core/guards.ts";
import { printable } from "../../core/text.ts";
import type {
  MonthClosedBody,
  MonthClosedFile,
  NewEvent,
  RecordedEvent,
} from "../events/event.ts";
import type { Fact } from "../events/fact.ts";
import { factId, record } from "../events/record.ts";
import {
  evolveOrder,
  initialOrderFold,
  type OrderFold,
} from "../orders/order_fold.ts";
import { factsOf, joinAll } from "../projection/anew.ts";
import { readHash } from "../reads/pages.ts";
import { type Driver, selectDeciding } from "../store/database.ts";
import { readEvents } from "../store/events.ts";
import { IS_RARE } from "../store/schema.ts";
import {
  type BookBy,
  type BookedBefore,
  decideRows,
  EXCLUSIONS,
  localDay,
  monthAfter,
  monthOf,
  type MonthRow,
  type MonthRowKind,
  ROW_KINDS,
} from "./month_row.ts";
import {
  monthFiles,
  type MonthSummary,
  type MonthTerms,
  readItems,
  sha256Of,
  SHEETS,
  sumMonth,
} from "./month_files.ts";
import type { AssetTable } from "../../core/assets/environment.ts";
import type { FoldCode } from "../projection/project.ts";
import { diffStates } from "../projection/refold.ts";

/** A closed month as it is stored. */
export interface MonthClose extends MonthTerms {
  /** When it was closed, UTC ISO 8601. */
  readonly closedAt: string;
  /** Digest of its event. */
  readonly digest: string;
  /** Position of its event. */
  readonly position: number;
  /** Its files: `summary.json`, `items.csv`, and sums of it. */
  readonly files: readonly MonthClosedFile[];
}

/** The text of a file of a closed month; the empty text when it has none. */
export function fileText(close: MonthClose, name: string): string {
  return close.files.find((file) => file.name === name)?.text ?? "";
}

/** Positions of the closed months, in the order of the months; each keeps its own. */
export async function readMonthPositions(driver: Driver): Promise<number[]> {
  // Events that were imported may stand in any order.
  const rows = await selectDeciding(
    driver,
    `SELECT e.position FROM events AS e
      WHERE e.kind = 'month_closed' AND e.${IS_RARE}
      ORDER BY CASE WHEN json_valid(CAST(e.body AS TEXT))
        THEN CAST(e.body AS TEXT) ->> '$.month' END`,
  );
  return rows.map(([position]) => Number(position));
}

/** The last of the events that are folded, and how many there are up to it. */
async function readHead(driver: Driver): Promise<MonthClose["asOf"]> {
  const [[position = 0, events = 0] = []] = await selectDeciding(
    driver,
    `SELECT l.position, (SELECT count(*) FROM events
      WHERE position <= l.position) FROM ledger AS l`,
  );
  return { position: Number(position), events: Number(events) };
}

/** Reads the closed months one by one, in their order. */
async function* listMonths(
  driver: Driver,
): AsyncGenerator<MonthClose> {
  for (const position of await readMonthPositions(driver)) {
    const close = await readMonthAt(driver, position);
    if (close !== null) yield close;
  }
}

/** Reads the closed month at a position, or of a name; null when there is none. */
export async function readMonthAt(
  driver: Driver,
  at: number | string,
): Promise<MonthClose | null> {
  const [column, value] = typeof at === "number"
    ? ["position", at]
    : ["id", factId("month_closed", at, null, "")];
  const from = `events AS e WHERE e.${column} = ?`;
  const [event] = await readEvents(driver, from, value);
  if (event === undefined) return null;
  const { recordedAt: closedAt, digest, position } = event;
  const body = bodyOf(event);
  const { month, files } = body;
  for (const { name, text, sha256 } of files) {
    if (sha256Of(text) === sha256) continue;
    throw new SyntaxError(
      `Cannot read the closed month ${month}: ${name} is not what its ` +
        "hash says; see ledger verify",
    );
  }
  return {
    ...{ month, timeZone: body.time_zone, closedAt, digest, position, files },
    timeZoneVersion: body.time_zone_version,
    bookBy: body.book_by as BookBy,
    asOf: { position: body.position, events: body.events },
    foldVersion: body.fold_version,
  };
}

function bodyOf({ body, position }: RecordedEvent): MonthClosedBody {
  const value = jsonRecord(new TextDecoder().decode(body)) ?? {};
  const { files } = value;
  const texts = [value.month, value.time_zone, value.book_by];
  const numbers = [value.position, value.events, value.fold_version];
  if (
    texts.every((one) => typeof one === "string") &&
    numbers.every((one) => typeof one === "number") && Array.isArray(files) &&
    files.every((file) => typeof file?.text === "string")
  ) return value as unknown as MonthClosedBody;
  throw new SyntaxError(
    `Cannot read the closed month at position ${position}: its event ` +
      "was erased, or is of a newer version",
  );
}

/** Reads what closed months have booked: those before a month, or all. */
async function readBooks(driver: Driver, before: string = AFTER_ALL) {
  const booked = new Map<string, BookedBefore>();
  let firstMonth: string | null = null;
  let last: MonthClose | null = null;
  for await (const close of listMonths(driver)) {
    if (close.month >= before) break;
    addBooked(booked, close);
    firstMonth ??= close.month;
    last = close;
  }
  return { booked, firstMonth, last };
}

/** Adds the rows of a closed month, by order, as files write it; months in order. */
function addBooked(booked: Map<string, BookedBefore>, close: MonthClose): void {
  // What came while it was closed it did not know. An import numbers events anew.
  const closedAt = Math.min(close.asOf.position, close.position);
  // A restatement stands behind the reversal of the same order.
  for (const row of readItems(fileText(close, "items.csv"))) {
    const { orderId, kind, ofMonth, datedBy } = row;
    const money = kind === "reversal" ? null : row.money;
    booked.set(printable(orderId), { money, ofMonth, datedBy, closedAt });
  }
}

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
    return await readMonthAt(this.#parts.driver, month);
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
    const first = await readMonthAt(driver, month);
    if (first !== null) return refused({ code: "already_closed", first });
    const before = await readBooks(driver);
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
    const stored = await readMonthAt(driver, month) as MonthClose;
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
    return await this.#booksNow(terms, before, options);
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
    if (stored === null) return null;
    const parts = this.#parts;
    const { driver } = parts;
    const before = await readBooks(driver, month);
    // By their number: an import gives events other positions.
    const [[past = 0] = []] = await selectDeciding(
      driver,
      `SELECT max(position) FROM
        (SELECT position FROM events ORDER BY position LIMIT ?)`,
      stored.asOf.events,
    );
    const options = { ...work, past: Number(past) };
    const then = await workOutMonth(parts, stored, before, options);
    const items = fileText(stored, "items.csv");
    const erased = new Set(
      [...readItems(items)].map(({ orderId }) => orderId)
        .filter((orderId) => then.erased.has(orderId)),
    );
    // Written and read back, so that both sides went through the same file.
    const differences = diffRows(
      readItems(items),
      readItems(SHEETS["items.csv"](then.rows)),
    ).filter(({ orderId }) => !erased.has(orderId ?? ""));
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
    // The first closed month after it that corrects an order of it.
    const bookedIn = new Map<string, string>();
    for await (const close of listMonths(driver)) {
      if (close.month <= month) continue;
      for (const row of readItems(fileText(close, "items.csv"))) {
        if (row.ofMonth !== month || bookedIn.has(row.orderId)) continue;
        bookedIn.set(row.orderId, close.month);
      }
    }
    const day = localDay(stored.timeZone);
    const changes = now.rows.filter(({ ofMonth }) => ofMonth === month).map(
      (row) => ({
        ...row,
        day: day(row.knownAt),
        bookedIn: bookedIn.get(row.orderId) ?? null,
      }),
    );
    return { stored, differences, erased: [...erased], changes };
  }

  /** The books of a month, computed from what is known now. */
  async #booksNow(
    terms: Pick<MonthTerms, "month" | "timeZone" | "bookBy">,
    before: Awaited<ReturnType<typeof readBooks>>,
    work: MonthWork,
  ) {
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

/** Later than any month, so that everything that corrects one is in it. */
const AFTER_ALL = "9999-12";

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
    return a && b
      ? diffFields(row, a, b)
      : diffFields(row, { row: a?.day }, { row: b?.day });
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

/** Orders read at once. */
const PAGE = 200;

/** Computes the books of a month from what was known up to a position. */
async function workOutMonth(
  { driver, assets, fold: { readFact } }: MonthsParts,
  { month, timeZone, timeZoneVersion, bookBy, asOf, foldVersion }: MonthTerms,
  { booked, firstMonth }: Pick<
    Awaited<ReturnType<typeof readBooks>>,
    "booked" | "firstMonth"
  >,
  { signal, onProgress, past = asOf.position }: MonthWork & {
    readonly past?: number;
  },
) {
  const closing = {
    ...{ month, bookBy, day: localDay(timeZone), assets },
    firstMonth: firstMonth ?? month,
  };
  const options = { assets, readFact, past, hash: await readHash(driver) };
  const rows: MonthRow[] = [];
  const erased = new Set<string>();
  const unclear: string[] = [];
  const excluded = recordBy(EXCLUSIONS)(() => 0);
  let count = 0;
  for (let after = -1;;) {
    signal?.throwIfAborted();
    const page = await selectDeciding(
      driver,
      "SELECT no, id FROM orders WHERE no > ? ORDER BY no LIMIT ?",
      ...[after, PAGE],
    );
    if (page.length === 0) break;
    const folds = new Map(
      page.map(([no, id]) => [Number(no), initialOrderFold(String(id))]),
    );
    const facts = new Map<number, Fact[]>(page.map(([no]) => [Number(no), []]));
    for await (
      const [no, fact] of factsOf(driver, [...folds.keys()], options)
    ) {
      if (fact.position > past) continue;
      folds.set(no, evolveOrder(folds.get(no) as OrderFold, fact));
      // Anybody can send any number of webhooks of one order.
      if (fact.kind !== "webhook") facts.get(no)?.push(fact);
    }
    await joinAll(driver, folds, options);
    for (const [no, fold] of folds) {
      const { orderId } = fold;
      onProgress?.(++count);
      after = no;
      const decided = decideRows(
        { fold, facts: facts.get(no) ?? [] },
        booked.get(printable(orderId)) ?? null,
        closing,
      );
      rows.push(...decided.rows);
      if (decided.excluded !== null) excluded[decided.excluded]++;
      if (decided.excluded === "unclear") unclear.push(orderId);
      if (decided.isErased) erased.add(orderId);
    }
  }
  rows.sort(compareRows);
  const summary: MonthSummary = {
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
interface MonthsParts {
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

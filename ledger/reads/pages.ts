/** Pages of a list: what a query may ask for, and how rows are looked through. */
import { base64urlnopad } from "@scure/base";
import { jsonBytes } from "../../core/bytes.ts";
import { isCalendarDate } from "../../core/time/service_time.ts";
import type { Driver, SqlValue, Statement } from "../store/driver/driver.ts";
import { read, type Rows } from "../store/database.ts";

/** What every query of a list can say. */
export interface PageQuery {
  /**
   * Only what was created after it, ISO 8601 with a zone. Until the service has
   * stated when, the time of the first event stands for it.
   */
  readonly createdAfter?: string;
  /** Only what was created then or before, ISO 8601 with a zone. */
  readonly createdUpTo?: string;
  /**
   * Rows of a page, 1 to 1000. It has fewer where they are long, or where many
   * rows were looked through: only a `next` that is null says that it is the
   * last one.
   *
   * @default 100
   */
  readonly limit?: number;
  /** `next` of the page before. @default from the beginning */
  readonly after?: string;
}

/** Which rows of a list come first. */
export type ListSort = "newest" | "oldest";

/** A condition on rows. */
export interface Condition {
  /** SQL with `?` placeholders. */
  readonly sql: string;
  /** One value per placeholder. */
  readonly args: readonly SqlValue[];
}

/** Rows that an index has together. */
export interface Range extends Condition {
  /**
   * Set where they are few, and the index does not have them in the order of time:
   * they are sorted, rather than looked for among all.
   */
  readonly isFew?: true;
}

/** Rows of orders or users, by `at` and then by `no`. */
export interface List {
  /** Whose rows. */
  readonly table: "orders" | "users";
  /**
   * Of these a row satisfies one at most. Each is a range of one index, and they
   * are merged in the order of the list.
   */
  readonly ranges: readonly Range[];
  /** What is asked besides: each row of the ranges is looked at for it. */
  readonly where: readonly Condition[];
  /** Which rows come first. */
  readonly sort: ListSort;
  /** Only rows after this time, ms. */
  readonly after: number | undefined;
  /** Only rows of this time or before, ms. */
  readonly upTo: number | undefined;
}

/** All rows: an index by time has them in order. */
export const ALL: Range = { sql: "1", args: [] };

/** The place of a row in a list. */
export interface Place {
  /** What it is sorted by, ms. */
  readonly at: number;
  /** Its `no`. */
  readonly no: number;
}

/** One page of a list. */
export interface ListPage<View> {
  /** The rows, as readers see them. */
  readonly views: readonly View[];
  /** `after` of the next page; null on the last one. */
  readonly next: string | null;
  /**
   * Up to when the list was looked through, where the page ended because of
   * that, UTC ISO 8601; else null.
   */
  readonly searchedTo: string | null;
}

/** How the rows of a list are read. */
export interface ListReader<View> {
  /** SQL of the columns that a view is made of. */
  readonly columns: string;
  /** Makes a view of them. */
  readonly viewOf: (row: readonly SqlValue[]) => View;
  /** What SQL cannot tell of a row. @default {every row is chosen} */
  readonly holds?: ((view: View) => boolean) | undefined;
  /** Rows that a page looks through at most. @default {MOST_SEARCHED} */
  readonly mostSearched?: number;
  /** Rows of one statement. @default {STEP} */
  readonly step?: number;
}

/** Rows that one page looks through for what no index tells. */
const MOST_SEARCHED = 50_000;

const SORTED_AT_ONCE = 500;

/** Rows of one statement: others wait for the database meanwhile. */
const STEP = 5_000;

/** Reads one page. */
export async function readPage<View>(
  driver: Driver,
  list: List,
  reader: ListReader<View>,
  { limit, after }: PageQuery,
): Promise<ListPage<View>> {
  const { columns, viewOf, holds, step = STEP } = reader;
  const { mostSearched = MOST_SEARCHED } = reader;
  const size = pageSize(limit);
  const found: { readonly view: View; readonly place: Place }[] = [];
  let from = after === undefined ? null : placeOf(after);
  let isEnd = false;
  // Rows of a range of an index alone: there are none that are not wanted.
  const isExact = list.where.length === 0;
  // What has to be sorted is sorted for every step.
  const least = list.ranges.some(({ isFew }) => isFew) ? SORTED_AT_ONCE : 0;
  let searched = 0;
  while (!isEnd && found.length <= size && searched < mostSearched) {
    const wanted = Math.max(size + 1 - found.length, least);
    const [rows = [], ends = []] = await read(driver, [
      selectRows(list, columns, {
        ...{ from, wanted },
        looked: isExact ? wanted : step,
      }),
      ...(isExact ? [] : [selectEnd(list, from, step)]),
    ]);
    for (const row of rows) {
      const view = viewOf(row.slice(2));
      if (holds?.(view) ?? true) found.push({ view, place: keyOf(row) });
    }
    // Behind the last row of as many as were wanted there may be more.
    const last = (rows.length === wanted ? rows : ends).at(-1);
    isEnd = last === undefined;
    if (last !== undefined) from = keyOf(last);
    searched += isExact ? wanted : step;
  }
  const shown = found.slice(0, size);
  const fit = fitting(shown, ({ view }) => jsonBytes(view));
  const cut = found.length > fit.length ? fit.at(-1)?.place : undefined;
  const end = cut ?? (isEnd ? null : from);
  return {
    views: fit.map(({ view }) => view),
    next: end === null ? null : encodePlace(end),
    searchedTo: end === null || cut !== undefined
      ? null
      : new Date(end.at).toISOString(),
  };
}

/** Walks over all rows, page by page. */
export async function* readAll<View>(
  driver: Driver,
  list: List,
  reader: ListReader<View>,
  query: PageQuery,
): AsyncGenerator<View> {
  for (let page = query;;) {
    const { views, next } = await readPage(driver, list, reader, page);
    yield* views;
    if (next === null) return;
    page = { ...query, after: next };
  }
}

/**
 * Adds up what a list has, step by step.
 *
 * @param sums SQL of what is worked out of the rows of each step.
 */
export async function* readSums(
  driver: Driver,
  list: List,
  sums: {
    /** The columns that are added up. */
    readonly of: readonly string[];
    readonly columns: string;
    readonly groupBy: string;
  },
): AsyncGenerator<readonly SqlValue[]> {
  for (let from: Place | null = null;;) {
    // An index may hold all that is added up: then no row is read for it.
    const isExact = list.where.length === 0;
    const keys = selectKeys(list, from, STEP, isExact ? sums.of : []);
    const where = allOf(list.where);
    const join = `CROSS JOIN ${list.table} AS r ON r.no = k.key_no`;
    const [rows = [], ends = []]: readonly Rows[] = await read(driver, [{
      sql: `SELECT ${sums.columns} FROM (${keys.sql}) AS k
        ${isExact ? "" : join} WHERE ${where.sql} GROUP BY ${sums.groupBy}`,
      args: [...keys.args, ...where.args],
    }, selectEnd(list, from, STEP)]);
    yield* rows;
    const [last] = ends;
    if (last === undefined) return;
    from = keyOf(last);
  }
}

/** Whether the ranges of a list have more rows than a number. */
export async function hasMore(
  driver: Driver,
  list: List,
  rows: number,
): Promise<boolean> {
  const [ends = []] = await read(driver, [selectEnd(list, null, rows + 1)]);
  return ends.length > 0;
}

/**
 * Selects rows of the next step that satisfy what is asked besides, in order:
 * the left side of CROSS JOIN is the outer loop, and is read in its order.
 */
function selectRows(
  list: List,
  columns: string,
  { from, wanted, looked }: {
    readonly from: Place | null;
    readonly wanted: number;
    /** Rows of the ranges that are looked at. */
    readonly looked: number;
  },
): Statement {
  const where = allOf(list.where);
  const keys = selectKeys(list, from, looked);
  return {
    sql: `SELECT k.key_at, k.key_no, ${columns}
      FROM (${keys.sql}) AS k CROSS JOIN ${list.table} AS r ON r.no = k.key_no
      WHERE ${where.sql} LIMIT ?`,
    args: [...keys.args, ...where.args, wanted],
  };
}

/** Selects the last row of a step; none where the list ends before. */
function selectEnd(list: List, from: Place | null, rows: number): Statement {
  const { sql, args } = selectKeys(list, from, 1);
  return { sql: `${sql} OFFSET ?`, args: [...args, rows - 1] };
}

function selectKeys(
  { table, ranges, sort, after, upTo }: List,
  from: Place | null,
  limit: number,
  columns: readonly string[] = [],
): Statement {
  const [sign, direction] = sort === "newest" ? ["<", "DESC"] : [">", "ASC"];
  const parts = ranges.map((range) => {
    // A plus keeps SQLite from going by the index that has all in order.
    const [time, no] = range.isFew ? ["+at", "+no"] : ["at", "no"];
    const all: Condition[] = [range];
    // SQLite goes by one bound of each side, and the place lies within the times.
    if (from !== null) {
      const args = [from.at, from.no];
      all.push({ sql: `(${time}, ${no}) ${sign} (?, ?)`, args });
    }
    if (after !== undefined && (from === null || sort === "newest")) {
      all.push({ sql: `${time} > ?`, args: [after] });
    }
    if (upTo !== undefined && (from === null || sort === "oldest")) {
      all.push({ sql: `${time} <= ?`, args: [upTo] });
    }
    const { sql, args } = allOf(all);
    const keys = [`${time} AS key_at`, `${no} AS key_no`, ...columns];
    return {
      sql: `SELECT ${keys.join(", ")} FROM ${table} WHERE ${sql}`,
      args,
    };
  });
  return {
    sql: parts.map(({ sql }) => sql).join(" UNION ALL ") +
      ` ORDER BY key_at ${direction}, key_no ${direction} LIMIT ?`,
    args: [...parts.flatMap(({ args }) => args), limit],
  };
}

/** Conditions that all have to hold. */
export function allOf(conditions: readonly Condition[]): Condition {
  return joined(conditions, " AND ", "1");
}

/** Conditions of which one has to hold. */
export function anyOf(conditions: readonly Condition[]): Condition {
  return joined(conditions, " OR ", "0");
}

function joined(
  conditions: readonly Condition[],
  word: string,
  empty: string,
): Condition {
  return {
    sql: conditions.map(({ sql }) => `(${sql})`).join(word) || empty,
    args: conditions.flatMap(({ args }) => args),
  };
}

function keyOf([at, no]: readonly SqlValue[]): Place {
  return { at: Number(at), no: Number(no) };
}

function encodePlace({ at, no }: Place): string {
  return encodeCursor({ sortAt: new Date(at).toISOString(), id: String(no) });
}

function placeOf(cursor: string): Place {
  const { sortAt, id } = decodeCursor(cursor);
  const place = { at: Date.parse(sortAt), no: Number(id) };
  if (Number.isSafeInteger(place.at) && Number.isSafeInteger(place.no)) {
    return place;
  }
  throw wrongCursor(cursor);
}

/**
 * The error of every query that asks for what cannot be.
 *
 * @param field Field of the query.
 * @param value What it says.
 * @param expected What it may say.
 */
export function wrongQuery(
  field: string,
  value: string | number,
  expected: string,
): RangeError {
  const shown = typeof value === "string" ? JSON.stringify(value) : value;
  return new RangeError(`Wrong ${field}: ${shown} is not ${expected}`);
}

/**
 * Writes a time of a query in one form.
 *
 * @param time Any ISO 8601 time with a zone, or a date.
 * @throws {RangeError} When it is not a valid time.
 */
export function queryTime(field: string, time: string): string {
  return new Date(queryMs(field, time)).toISOString();
}

/** The same in ms since 1970. */
export function queryMs(field: string, time: string): number {
  const ms = Date.parse(time);
  if (Number.isNaN(ms) || !isCalendarDate(time.slice(0, 10))) {
    throw wrongQuery(field, time, "a time; write it like 2026-11-20T09:00:00Z");
  }
  return ms;
}

/** The times of a query, in ms. */
export function timesOf(
  { createdAfter, createdUpTo }: PageQuery,
): Pick<List, "after" | "upTo"> {
  const ms = (field: string, time: string | undefined) =>
    time === undefined ? undefined : queryMs(field, time);
  return {
    after: ms("createdAfter", createdAfter),
    upTo: ms("createdUpTo", createdUpTo),
  };
}

/**
 * Says how many rows a page may have.
 *
 * @throws {RangeError} Unless it is from 1 to 1000.
 */
export function pageSize(limit: number = 100): number {
  if (!Number.isInteger(limit) || limit < 1 || limit > 1000) {
    throw wrongQuery("limit", limit, "a whole number from 1 to 1000");
  }
  return limit;
}

/**
 * Bytes of a page, at most, however many rows are wanted: a stranger decides how
 * long rows are.
 */
export const MOST_PAGE_BYTES = 4_000_000;

/**
 * The first rows that fit into a page: one at least, where there is one.
 *
 * @param bytesOf How many bytes a row takes.
 */
export function fitting<Row>(
  rows: readonly Row[],
  bytesOf: (row: Row) => number,
  most: number = MOST_PAGE_BYTES,
): readonly Row[] {
  let bytes = 0;
  const end = rows.findIndex((row, at) => {
    bytes += bytesOf(row);
    return at > 0 && bytes > most;
  });
  return end === -1 ? rows : rows.slice(0, end);
}

/** Where a page ends: what rows are sorted by. */
export interface PageEnd {
  /** Time the row is sorted by. */
  readonly sortAt: string;
  /** Identifier of the row. */
  readonly id: string;
}

/** Writes where a page ends as one opaque text. */
export function encodeCursor({ sortAt, id }: PageEnd): string {
  return base64urlnopad.encode(
    new TextEncoder().encode(JSON.stringify([sortAt, id])),
  );
}

/**
 * Reads what {@linkcode encodeCursor} wrote.
 *
 * @throws {RangeError} When it is not a cursor.
 */
export function decodeCursor(cursor: string): PageEnd {
  try {
    const bytes = base64urlnopad.decode(cursor);
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (Array.isArray(value) && value.length === 2) {
      const [sortAt, id] = value;
      if (typeof sortAt === "string" && typeof id === "string") {
        return { sortAt, id };
      }
    }
  } catch {
    // The error below covers every text that is not a cursor.
  }
  throw wrongCursor(cursor);
}

function wrongCursor(cursor: string): RangeError {
  return wrongQuery("cursor", cursor, '"next" of an earlier page');
}

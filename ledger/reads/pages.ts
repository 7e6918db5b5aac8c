/** Pages of a list: what a query may ask for, and how rows are looked through. */
import { Buffer } from "node:buffer";
import { jsonBytes } from "../../core/bytes.ts";
import { isCalendarDate } from "../../core/time/service_time.ts";
import {
  bytesOf,
  type Driver,
  read,
  type Rows,
  selectValue,
  type SqlValue,
  type Statement,
  statement,
} from "../store/database.ts";
import { msOf, storedTime, timeOf } from "../store/events.ts";
import { LookupHash } from "../projection/guard.ts";

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
  /** Which come first, by when they were created. @default "newest" */
  readonly sort?: ListSort;
}

/** Which rows of a list come first. */
export type ListSort = "newest" | "oldest";

/** A condition on rows: SQL with `?` placeholders, and a value for each. */
export interface Condition {
  readonly sql: string;
  readonly args: readonly SqlValue[];
}

export interface Range extends Condition {
  /** The table whose index it is. @default {that of the list} */
  readonly from?: string;
  /** They are few, and sorted, rather than looked for among all in order of time. */
  readonly isFew?: true;
}

/** What a list is sorted by. */
interface Keys {
  /** The table, and what columns and conditions call it. */
  readonly from: string;
  /** The column of the time; that of `no` where rows come by it alone. */
  readonly at: string;
  readonly no: string;
  /** Only rows after this time, ms since 1970, or of any. */
  readonly after: readonly number[];
  /** Only rows of this time or before. */
  readonly upTo: readonly number[];
}

/** Orders or users by when they were created. */
export function byCreation(
  table: "orders" | "users",
  { createdAfter, createdUpTo }: PageQuery = {},
): Keys {
  const after = asked(createdAfter, (time) => queryMs("createdAfter", time));
  const upTo = asked(createdUpTo, (time) => queryMs("createdUpTo", time));
  return { from: `${table} AS r`, at: "at", no: "no", after, upTo };
}

/** Rows by a time and then by `no`, and how they are read. */
export interface List<View> extends Keys {
  /** A row is in one at most. Each is of one index, and they are merged in order. */
  readonly ranges: readonly Range[];
  /** What is asked besides: each row of the ranges is looked at for it. */
  readonly where: readonly Condition[];
  /** SQL of the columns that a view is made of. */
  readonly columns: string;
  readonly viewsOf: (rows: Rows) => readonly View[];
  /** What SQL cannot tell of a row. */
  readonly holds?: (view: View) => boolean;
  /** Rows that a page looks through at most. @default {MOST_SEARCHED} */
  readonly mostSearched?: number;
}

type Ranges = Omit<List<unknown>, "columns" | "viewsOf" | "holds">;

export function where(sql: string, ...args: readonly SqlValue[]): Condition {
  return { sql, args };
}

/** What a query asks of a value; nothing where it does not name one. */
export function asked<Value, Asked>(
  value: Value | undefined,
  of: (value: Value) => Asked,
): Asked[] {
  return value === undefined ? [] : [of(value)];
}

/** Conditions of one value each, of those that a query names. */
export function given(
  values: Readonly<Record<string, SqlValue | undefined>>,
): Condition[] {
  return Object.entries(values)
    .flatMap(([sql, value]) => asked(value, (one) => where(sql, one)));
}

/** All rows: an index by time has them in order. */
export const ALL: Range = where("1");

/** The place of a row in a list: the time it is sorted by, and its `no`. */
type Place = readonly SqlValue[];

/** Before every place, and behind every `no`; "~" is behind every time. */
const FIRST = Number.MIN_SAFE_INTEGER;
const LAST = Number.MAX_SAFE_INTEGER;

export interface ListPage<View> {
  readonly items: readonly View[];
  /** `after` of the next page; null on the last one. */
  readonly next: string | null;
  /**
   * Up to when the list was looked through, where the page ended because of
   * that, UTC ISO 8601; else null.
   */
  readonly searchedTo: string | null;
}

/** Rows that one page looks through for what no index tells. */
export const MOST_SEARCHED = 50_000;

/** Rows that are read at once where some are read in vain, or are long. */
const HELD_AT_ONCE = 50;

/** Rows of one statement: others wait for the database meanwhile. */
const STEP = 5_000;

export async function readPage<View>(
  driver: Driver,
  list: List<View>,
  query: PageQuery,
): Promise<ListPage<View>> {
  const { columns, viewsOf, holds, mostSearched = MOST_SEARCHED } = list;
  const size = pageSize(query.limit);
  const found: { readonly view: View; readonly place: Place }[] = [];
  const { sql, args } = allOf(list.where);
  let searched = 0;
  let from = query.after === undefined ? null : placeOf(query.after);
  do {
    const wanted = holds ? HELD_AT_ONCE : size + 1 - found.length;
    const keys = selectKeys(list, query, from, STEP);
    const [rows = [], ends = []]: Rows[] = await read(driver, [
      // The left side of CROSS JOIN is the outer loop, and is read in its order.
      statement(
        `SELECT ${columns}, k.key_at, k.key_no, k.looked
          FROM (SELECT *, row_number() OVER () AS looked FROM (${keys.sql})) AS k
          ${joined(list)} WHERE ${sql} LIMIT ?`,
        ...[...keys.args, ...args, wanted],
      ),
      // Of a range of an index alone there are no rows that are not wanted.
      ...(list.where.length === 0 ? [] : [selectEnd(list, query, from, STEP)]),
    ]);
    const places = rows.map((row) => row.slice(-3));
    for (const [at, view] of viewsOf(rows).entries()) {
      const [time = 0, no = 0] = places[at] ?? [];
      if (holds?.(view) ?? true) found.push({ view, place: [time, no] });
    }
    // Behind the last row of as many as were wanted there may be more.
    const last = (rows.length === wanted ? places : ends).at(-1);
    searched += Number(last?.[2] ?? STEP);
    from = last?.slice(0, 2) ?? null;
  } while (from && found.length <= size && searched < mostSearched);
  const fit = fitting(found.slice(0, size), ({ view }) => jsonBytes(view));
  const cut = found.length > fit.length ? fit.at(-1)?.place : undefined;
  const [at, no] = cut ?? from ?? [];
  const end = at === undefined ? null : timeOf(at) ?? "";
  return {
    items: fit.map(({ view }) => view),
    next: end && encodeCursor(end, String(no)),
    searchedTo: cut === undefined ? end : null,
  };
}

/** Walks over everything that a query asks for, page by page. */
export async function* readAll<Item, Query extends { readonly after?: string }>(
  query: Query,
  readPage: (
    query: Query,
  ) => Promise<Pick<ListPage<Item>, "items" | "next">>,
): AsyncGenerator<Item> {
  for (let page = query;;) {
    const { items, next } = await readPage(page);
    yield* items;
    if (next === null) return;
    page = { ...query, after: next };
  }
}

const SUMMED = ["currency", "trust", "amount"];

/**
 * Adds up the orders of a list step by step: rows of currency, trust, orders,
 * amounts, and their sum, which a step bounds.
 */
export async function* readSums(
  driver: Driver,
  list: Ranges,
  query: PageQuery,
): AsyncGenerator<readonly SqlValue[]> {
  // An index may hold all that is added up: then no row is read for it.
  const isExact = list.where.length === 0;
  const { sql, args } = allOf(list.where);
  let from: Place | undefined;
  do {
    const at = from ?? null;
    const keys = selectKeys(list, query, at, STEP, isExact ? SUMMED : []);
    const [rows = [], ends = []]: Rows[] = await read(driver, [
      statement(
        `SELECT upper(currency), trust, count(*), count(amount),
            CAST(coalesce(sum(amount), 0) AS TEXT)
          FROM (${keys.sql}) AS k ${isExact ? "" : joined(list)} WHERE ${sql}
          GROUP BY upper(currency), trust`,
        ...[...keys.args, ...args],
      ),
      selectEnd(list, query, at, STEP),
    ]);
    yield* rows;
    from = ends[0];
  } while (from !== undefined);
}

function joined({ from, no }: Keys): string {
  return `CROSS JOIN ${from} ON ${no} = k.key_no`;
}

/** Selects the last row of a step; none where the list ends before. */
export function selectEnd(
  list: Ranges,
  query: PageQuery,
  from: Place | null,
  rows: number,
): Statement {
  const { sql, args } = selectKeys(list, query, from, 1);
  return statement(`${sql} OFFSET ?`, ...args, rows - 1);
}

function selectKeys(
  { from: table, ranges, at, no: name, after, upTo }: Ranges,
  { sort = "newest" }: PageQuery,
  from: Place | null,
  limit: number,
  columns: readonly string[] = [],
): Statement {
  if (sort !== "newest" && sort !== "oldest") {
    throw wrongQuery("sort", sort, "newest or oldest");
  }
  // SQLite goes by one bound of each side, and the place lies within the times.
  const { sign, direction, start, end } = sort === "newest"
    ? { sign: "<", direction: "DESC", start: upTo[0] ?? "~", end: after }
    : { sign: ">", direction: "ASC", start: after[0] ?? FIRST, end: upTo };
  const parts = ranges.map((range) => {
    // A plus keeps SQLite from going by the index that has all in order.
    const [time, no] = range.isFew ? [`+${at}`, `+${name}`] : [at, name];
    const { sql, args } = allOf([
      range,
      where(`(${time}, ${no}) ${sign} (?, ?)`, ...from ?? [start, LAST]),
      ...end.map((ms) =>
        where(`${time} ${sort === "newest" ? ">" : "<="} ?`, ms)
      ),
    ]);
    const keys = [`${time} AS key_at`, `${no} AS key_no`, ...columns];
    const source = range.from ?? table;
    return where(`SELECT ${keys} FROM ${source} WHERE ${sql}`, ...args);
  });
  return statement(
    parts.map(({ sql }) => sql).join(" UNION ALL ") +
      ` ORDER BY key_at ${direction}, key_no ${direction} LIMIT ?`,
    ...[...parts.flatMap(({ args }) => args), limit],
  );
}

export function allOf(
  conditions: readonly Condition[],
  word: "AND" | "OR" = "AND",
): Condition {
  const all = conditions.map(({ sql }) => `(${sql})`).join(` ${word} `);
  return {
    sql: all || (word === "AND" ? "1" : "0"),
    args: conditions.flatMap(({ args }) => args),
  };
}

function placeOf(cursor: string): Place {
  const [sortAt, id] = decodeCursor(cursor);
  const no = Number(id);
  if (msOf(sortAt) !== null && Number.isSafeInteger(no)) {
    return [storedTime(sortAt), no];
  }
  throw wrongCursor(cursor);
}

/** The error of every query that asks for what cannot be. */
export function wrongQuery(
  field: string,
  value: string | number,
  expected: string,
): RangeError {
  const shown = typeof value === "string" ? JSON.stringify(value) : value;
  return new RangeError(`Wrong ${field}: ${shown} is not ${expected}`);
}

/** A time of a query, with a zone or a date, in ms since 1970. */
export function queryMs(field: string, time: string): number {
  const ms = Date.parse(time);
  if (Number.isNaN(ms) || !isCalendarDate(time.slice(0, 10))) {
    throw wrongQuery(field, time, "a time; write it like 2026-11-20T09:00:00Z");
  }
  return ms;
}

export function pageSize(limit: number = 100): number {
  if (!Number.isInteger(limit) || limit < 1 || limit > 1000) {
    throw wrongQuery("limit", limit, "a whole number from 1 to 1000");
  }
  return limit;
}

/** Bytes of a page, at most: a stranger decides how long rows are. */
export const MOST_PAGE_BYTES = 4_000_000;

/** The first rows that fit into a page: one at least, where there is one. */
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

/** Writes where a page ends as one opaque text: what rows are sorted by, and an id. */
export function encodeCursor(sortAt: string, id: string): string {
  return Buffer.from(JSON.stringify([sortAt, id])).toString("base64url");
}

export function decodeCursor(cursor: string): [sortAt: string, id: string] {
  try {
    const text = Buffer.from(cursor, "base64url").toString();
    const [sortAt, id]: unknown[] = JSON.parse(text);
    if (typeof sortAt === "string" && typeof id === "string") {
      return [sortAt, id];
    }
  } catch {
    // The error below covers every text that is not a cursor.
  }
  throw wrongCursor(cursor);
}

export function wrongCursor(cursor: string): RangeError {
  return wrongQuery("cursor", cursor, '"next" of an earlier page');
}

const hashes = new WeakMap<Driver, LookupHash>();

/** Reads how the texts of a ledger are hashed, once for each database. */
export async function readHash(driver: Driver): Promise<LookupHash> {
  const known = hashes.get(driver);
  if (known !== undefined) return known;
  const key = await selectValue(driver, "SELECT key FROM ledger");
  const hash = new LookupHash(bytesOf(key));
  hashes.set(driver, hash);
  return hash;
}

/** Reads it anew the next time: another ledger was moved in. */
export function forgetHash(driver: Driver): void {
  hashes.delete(driver);
}

import { isCalendarDate } from "../../../core/time/service_time.ts";
import { base64urlnopad } from "@scure/base";

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
 * @param field Field of the query, for the message.
 * @param time Any ISO 8601 time with a zone, or a date.
 * @throws {RangeError} When it is not a valid time.
 */
export function queryTime(field: string, time: string): string {
  return new Date(queryMs(field, time)).toISOString();
}

/**
 * The same in milliseconds since the epoch.
 *
 * @param field Field of the query, for the message.
 * @param time Any ISO 8601 time with a zone, or a date.
 * @throws {RangeError} When it is not a valid time.
 */
export function queryMs(field: string, time: string): number {
  const ms = Date.parse(time);
  if (Number.isNaN(ms) || !isCalendarDate(time.slice(0, 10))) {
    throw wrongQuery(field, time, "a time; write it like 2026-11-20T09:00:00Z");
  }
  return ms;
}

/**
 * Says how many rows a page may have.
 *
 * @param limit From the query; 100 where it names none.
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
 * long rows are. A page has one row at least, and its cursor goes on after its
 * last.
 */
export const MOST_PAGE_BYTES = 4_000_000;

/**
 * The first rows that fit into a page.
 *
 * @param rows The rows.
 * @param bytesOf How many bytes a row takes.
 * @param most Bytes that fit. @default {MOST_PAGE_BYTES}
 * @returns All of them, or fewer; one at least, where there is one.
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
  /** Amount the row is sorted by before its time. @default {none} */
  readonly amount?: number;
}

/**
 * Writes where a page ends as one opaque text.
 *
 * @param end Time and identifier of the last row, and its amount.
 */
export function encodeCursor({ sortAt, id, amount }: PageEnd): string {
  const keys = amount === undefined ? [sortAt, id] : [sortAt, id, amount];
  return base64urlnopad.encode(new TextEncoder().encode(JSON.stringify(keys)));
}

/**
 * Reads what {@linkcode encodeCursor} wrote.
 *
 * @param cursor The text.
 * @throws {RangeError} When it is not a cursor.
 */
export function decodeCursor(cursor: string): PageEnd {
  try {
    const bytes = base64urlnopad.decode(cursor);
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (Array.isArray(value) && value.length <= 3) {
      const [sortAt, id, amount] = value;
      if (typeof sortAt === "string" && typeof id === "string") {
        if (value.length === 2) return { sortAt, id };
        if (Number.isSafeInteger(amount)) return { sortAt, id, amount };
      }
    }
  } catch {
    // The error below covers every text that is not a cursor.
  }
  throw wrongQuery("cursor", cursor, '"next" of an earlier page');
}

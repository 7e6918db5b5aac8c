import { isCalendarDate } from "../../core/time/calendar_date.ts";

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
 * Writes a time of a query as rows are sorted by it.
 *
 * @param field Field of the query, for the message.
 * @param time Any ISO 8601 time with a zone, or a date.
 * @throws {RangeError} When it is not a valid time.
 */
export function queryTime(field: string, time: string): string {
  const ms = Date.parse(time);
  if (Number.isNaN(ms) || !isCalendarDate(time.slice(0, 10))) {
    throw wrongQuery(field, time, "a time; write it like 2026-11-20T09:00:00Z");
  }
  return new Date(ms).toISOString();
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

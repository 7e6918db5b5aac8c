/**
 * Times that are stored as milliseconds since the epoch: a third of the bytes of
 * their text, in each index as well.
 */
import type { SqlValue } from "../driver/driver.ts";
import type { ColumnType } from "./columns.ts";

/** The first time that there is. */
export const FIRST_MS = -8.64e15;

/** UTC ISO 8601 with milliseconds; the empty text is no time, and as 1970. */
export const timeMs: ColumnType<string> = {
  read: timeOf,
  write: (time) => time === "" ? 0 : Date.parse(time),
};

/**
 * The time that a stored number says, UTC ISO 8601 with milliseconds.
 *
 * @param stored Milliseconds since the epoch.
 */
export function timeOf(stored: SqlValue): string {
  return new Date(Number(stored)).toISOString();
}

/**
 * SQL for the number that is stored of a time; null of what is none.
 *
 * @param text SQL of the time, ISO 8601.
 */
export function msSql(text: string): string {
  return `CAST(round((julianday(${text}) - 2440587.5) * 86400000) AS INTEGER)`;
}

import { isCalendarDate } from "./calendar_date.ts";

const form =
  /^(\d{4}-\d\d-\d\d)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?Z$/;

/**
 * Reads a time in the form that the filters of the service take:
 * `YYYY-MM-DDTHH:MM:SSZ`, where a fraction of a second is allowed.
 *
 * Source: service interface, "GET /api/external/orders".
 *
 * @param text The value of `start_date`, `end_date`, `from` or `to`.
 * @returns Milliseconds since 1970, or null when `text` is not such a time.
 *
 * @example Read the start of a range
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(readQueryTime("1970-01-01T00:00:01.5Z"), 1500);
 * assert.equal(readQueryTime("1970-01-01 00:00:01"), null);
 * ```
 */
export function readQueryTime(text: string): number | null {
  const match = form.exec(text);
  return match !== null && isCalendarDate(match[1] ?? "")
    ? Date.parse(text)
    : null;
}

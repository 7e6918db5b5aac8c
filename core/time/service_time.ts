/** The form of orders, on days that every month has: nearly every time. */
const usualForm =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8]) (?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d$/;

const form =
  /^(\d{4}-\d\d-\d\d)[T ]((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(\.\d+)?(?:Z| ?UTC|([+-](?:[01]\d|2[0-3])):?([0-5]\d))?$/;

/**
 * Reads a time as the service writes it: `YYYY-MM-DD HH:MM:SS` in orders,
 * ISO 8601 in users. A time without a zone is UTC.
 *
 * Source: service interface, "Order (Data API)" and "User (Data API)".
 *
 * @param text The time as sent.
 * @returns Milliseconds since 1970, or null when `text` is not such a time.
 *
 * @example Read a time without a zone as UTC
 * ```ts
 * import { readServiceTime } from "@rampkit/onramp/client";
 * import assert from "node:assert/strict";
 *
 * assert.equal(
 *   readServiceTime("2026-01-31 12:00:00"),
 *   Date.UTC(2026, 0, 31, 12),
 * );
 * assert.equal(readServiceTime("2026-02-30 12:00:00"), null);
 * ```
 */
export function readServiceTime(text: string): number | null {
  const normal = normaliseTime(text);
  return normal === null ? null : Date.parse(normal);
}

/**
 * Writes a time of the service as UTC ISO 8601 that ends in `Z`. Text order of
 * such times is time order where their fractions are equally long.
 *
 * @param text For example `2026-11-20 09:05:00`.
 * @returns For example `2026-11-20T09:05:00Z`; null when `text` is no time that
 * {@linkcode readServiceTime} reads.
 *
 * @example Write the time of an order
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(normaliseTime("2026-11-20 09:05:00"), "2026-11-20T09:05:00Z");
 * ```
 */
export function normaliseTime(text: string | null): string | null {
  if (text === null) return null;
  if (usualForm.test(text)) return `${text.slice(0, 10)}T${text.slice(11)}Z`;
  const match = form.exec(text);
  if (match === null) return null;
  const [, date = "", time, fraction = "", hours, minutes] = match;
  if (!isCalendarDate(date)) return null;
  if (hours === undefined) return `${date}T${time}${fraction}Z`;
  const utc = new Date(`${date}T${time}${fraction}${hours}:${minutes}`);
  const iso = utc.toISOString();
  // The offset can lead out of the years of four digits, which sort as text.
  return /^\d{4}-/.test(iso) ? iso : null;
}

/**
 * Whether a text is a day of the calendar as `YYYY-MM-DD`.
 *
 * @param text What to look at.
 * @returns False for 30 February too, which `Date.parse` reads as 2 March.
 *
 * @example Find a day that does not exist
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(isCalendarDate("2028-02-29"), true);
 * assert.equal(isCalendarDate("2026-02-29"), false);
 * ```
 */
export function isCalendarDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

const QUERY_FORM =
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
  const match = QUERY_FORM.exec(text);
  return match !== null && isCalendarDate(match[1] ?? "")
    ? Date.parse(text)
    : null;
}

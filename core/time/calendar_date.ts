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

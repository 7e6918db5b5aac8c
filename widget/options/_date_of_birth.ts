import { isCalendarDate } from "../../core/time/calendar_date.ts";
import type { Faults } from "./_faults.ts";

/**
 * Turns an ISO date into the country's order of day and month, which is all
 * the widget has to tell 3 April from 4 March.
 */
export function dateOfBirth(
  value: unknown,
  country: string | undefined,
  now: number,
  faults: Faults,
): string | undefined {
  const path = "date_of_birth";
  const match = typeof value === "string"
    ? /^(\d{4})-(\d{2})-(\d{2})$/.exec(value)
    : null;
  if (match === null || !isCalendarDate(match[0])) {
    const hint = "is no ISO date; use YYYY-MM-DD, a day that exists";
    return faults.add("format", path, value, hint);
  }
  const [, year, month, day] = match;
  if (Date.parse(match[0]) > now || Number(year) < 1900) {
    const hint = "is not between 1900 and today";
    return faults.add("range", path, value, hint);
  }
  if (country === undefined) {
    const hint = "needs country_of_residence, which decides the order of day " +
      "and month";
    return faults.add("conflict", path, value, hint);
  }
  return country === "US"
    ? `${month}/${day}/${year}`
    : `${day}/${month}/${year}`;
}

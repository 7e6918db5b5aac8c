/** The form of the orders endpoint, which is nearly all there is. */
const orderForm = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/;
const serviceForm =
  /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(\.\d+)?(?: ?UTC|Z)?$/;

/**
 * Writes a time of the service as UTC ISO 8601 ending in `Z`.
 *
 * The service's orders state times without a zone; they are UTC.
 *
 * @param text For example `2026-11-20 09:05:00`.
 * @returns For example `2026-11-20T09:05:00Z`; null when `text` is no time.
 *
 * @example Read a time of an order
 * ```ts
 * import { normaliseTime } from "./time.ts";
 * import assert from "node:assert/strict";
 *
 * assert.equal(normaliseTime("2026-11-20 09:05:00"), "2026-11-20T09:05:00Z");
 * ```
 */
export function normaliseTime(text: string | null): string | null {
  if (text === null) return null;
  if (orderForm.test(text)) return `${text.slice(0, 10)}T${text.slice(11)}Z`;
  const match = serviceForm.exec(text);
  if (match !== null) return `${match[1]}T${match[2]}${match[3] ?? ""}Z`;
  // Only a text with an offset of its own is left: without one, Date would read local time.
  if (!/[+-]\d\d:?\d\d$/.test(text)) return null;
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}

/**
 * Orders two normalised times, whatever their fractions of a second.
 *
 * @param a A time ending in `Z`, or the empty string, which comes first.
 * @param b Likewise.
 * @returns Negative, zero or positive.
 */
export function compareTimes(a: string, b: string): number {
  if (a === b) return 0;
  if (a.length === b.length) return a < b ? -1 : 1;
  // Without the Z, "…:15" sorts before "…:15.5", as it should.
  const left = a.endsWith("Z") ? a.slice(0, -1) : a;
  const right = b.endsWith("Z") ? b.slice(0, -1) : b;
  return left === right ? (a.length - b.length) : left < right ? -1 : 1;
}

/** The later of two normalised times; null comes before all. */
export function laterTime(a: string | null, b: string): string;
/** The later of two normalised times; null comes before all. */
export function laterTime(a: string | null, b: string | null): string | null;
export function laterTime(a: string | null, b: string | null): string | null {
  if (a === null) return b;
  return b === null || compareTimes(a, b) >= 0 ? a : b;
}

/** The earlier of two normalised times; null comes after all. */
export function earlierTime(a: string | null, b: string): string {
  return a === null || compareTimes(b, a) < 0 ? b : a;
}

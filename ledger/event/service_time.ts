const pattern =
  /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2})(\.\d+)?(Z|[+-]\d{2}:?\d{2})?$/;

/**
 * Reads a time of the service: `YYYY-MM-DD HH:MM:SS` in UTC, as orders carry
 * it, or ISO 8601, as users do. A time without a zone is UTC, never local.
 *
 * Source: service interface, "Order (Data API)" and "User (Data API)".
 *
 * @param value What the service sent in a time field.
 * @returns UTC ISO 8601 with milliseconds, or null when it is no such time.
 *
 * @example Read the time of a change
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(serviceTime("2026-01-31 23:59:59"), "2026-01-31T23:59:59.000Z");
 * assert.equal(serviceTime("yesterday"), null);
 * ```
 */
export function serviceTime(value: unknown): string | null {
  if (typeof value !== "string") return null;
  const match = pattern.exec(value.trim());
  if (match === null) return null;
  const [, date, time, fraction = "", zone = "Z"] = match;
  const local = new Date(`${date}T${time}Z`);
  if (Number.isNaN(local.getTime())) return null;
  // A day such as 30 February would roll over into March without a word.
  if (local.toISOString().slice(0, 10) !== date) return null;
  const stated = new Date(`${date}T${time}${fraction.slice(0, 4)}${zone}`);
  return Number.isNaN(stated.getTime()) ? null : stated.toISOString();
}

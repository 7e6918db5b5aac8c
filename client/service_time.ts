/**
 * Reads a time as the service writes it: `YYYY-MM-DD HH:MM:SS` in orders,
 * ISO 8601 in users. Both are UTC, with or without a zone mark.
 *
 * @param text The time as sent.
 * @returns Milliseconds since 1970, or null when it is no time.
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
 * assert.equal(readServiceTime(""), null);
 * ```
 */
export function readServiceTime(text: string): number | null {
  const match = pattern.exec(text);
  if (match === null) return null;
  const [, day, time, zone = "Z"] = match;
  const read = Date.parse(`${day}T${time}${zone}`);
  return Number.isNaN(read) ? null : read;
}

const pattern =
  /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:\.\d+)?)(Z|[+-]\d\d:\d\d)?$/;

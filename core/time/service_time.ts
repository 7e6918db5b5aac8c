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

/** Whether a text is a day of the calendar as `YYYY-MM-DD`. */
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
 */
export function readQueryTime(text: string): number | null {
  const match = QUERY_FORM.exec(text);
  return match !== null && isCalendarDate(match[1] ?? "")
    ? Date.parse(text)
    : null;
}

/** Clocks of two processes may differ by this much, in milliseconds. */
export const CLOCK_TOLERANCE_MS = 5000;

/** A creation time may be this much ahead of our clock, in milliseconds. */
const aheadMs = 5 * 60_000;

/** An answer dated further back than this states no time, in milliseconds. */
const behindMs = 24 * 3_600_000;

/**
 * The service's time, if it is plausible. It is never later than our clock,
 * whatever date an answer states.
 */
export function plausibleNowMs(readAt: string, nowMs: number): number {
  const statedMs = Date.parse(readAt);
  return statedMs > nowMs - behindMs ? Math.min(statedMs, nowMs) : nowMs;
}

/**
 * The latest plausible creation time: one in the future says nothing about
 * where new orders begin.
 */
export function latestPlausible(
  timesMs: readonly (number | null)[],
  nowMs: number,
): number | null {
  return timesMs.reduce(
    (latest, time) =>
      time === null || time > nowMs + aheadMs
        ? latest
        : Math.max(latest ?? time, time),
    null,
  );
}

/** No order is created this long after the service's own now, in ms. */
const newestAheadMs = 10 * 60_000;

/**
 * Where the past begins: a second before the oldest creation, because a window
 * does not include its start. If the oldest creation is in the far future, the
 * whole past is read.
 */
export function pastBeginsMs(
  createdAt: string | null | undefined,
  untilMs: number,
): number {
  const createdMs = readServiceTime(createdAt ?? "") ?? 0;
  const believedMs = createdMs > untilMs + newestAheadMs ? 0 : createdMs;
  return Math.min(untilMs, Math.floor(believedMs / 1000) * 1000 - 1000);
}

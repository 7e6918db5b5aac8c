import { readServiceTime } from "./service_time.ts";

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

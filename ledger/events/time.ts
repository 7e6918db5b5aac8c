/**
 * Orders two normalised times, whatever their fractions of a second. Negative, zero
 * or positive.
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

/** A stated time of reading further than this from ours is not used. */
const readToleranceMs = 2 * 60_000;

/** A time of the service may lie this far after the reading that shows it. */
const aheadToleranceMs = 5 * 60_000;

/**
 * When a reading counts as made: the stated time where it lies within two minutes
 * of the time the event was recorded, else that time. So one answer dated 2099 does
 * not win over every later one.
 */
export function effectiveReadAt(
  readAt: string | null,
  recordedAt: string,
): string {
  if (readAt === null || readAt === recordedAt) return recordedAt;
  const apart = Math.abs(Date.parse(readAt) - Date.parse(recordedAt));
  // NaN, for a text that is not a time, compares as false.
  return apart <= readToleranceMs ? readAt : recordedAt;
}

/**
 * The time that a time of the service counts as: one that lies more than five
 * minutes after the reading that shows it counts as the time of that reading. What
 * was stated where that is another time.
 */
export function effectiveTime(
  time: string,
  readAt: string,
): { readonly counts: string; readonly stated: string | null } {
  const sound = { counts: time, stated: null };
  if (compareTimes(time, readAt) <= 0) return sound;
  const readMs = Date.parse(readAt);
  if (Number.isNaN(readMs)) return sound;
  // Compared as text: `Date` does not read a day 99, which must count as late too.
  const limit = new Date(readMs + aheadToleranceMs).toISOString();
  return compareTimes(time, limit) <= 0
    ? sound
    : { counts: readAt, stated: time };
}

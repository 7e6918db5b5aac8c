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

/** `YYYY-MM-DD HH:MM:SS`, UTC: how orders state times. */
export function orderTime(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 19).replace("T", " ");
}

/** ISO 8601 UTC with fractional seconds: how users state times. */
export function userTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

/** The same instant without its fraction of a second. */
export function wholeSecond(timeMs: number): number {
  return Math.floor(timeMs / 1000) * 1000;
}

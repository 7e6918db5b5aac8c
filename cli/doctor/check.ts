/** One finding of the doctor. */
export interface Check {
  /** The subject of the check. */
  readonly name: string;
  /**
   * - `ok`: as it should be.
   * - `warn`: works, and a person should know.
   * - `fail`: does not work.
   * - `skip`: could not be looked at; `detail` says why.
   */
  readonly status: "ok" | "warn" | "fail" | "skip";
  /** The finding, in one sentence. */
  readonly detail: string;
  /** What to do about it; absent when there is nothing to do. */
  readonly advice?: string;
}

/** Makes a finding. */
export function check(
  name: string,
  status: Check["status"],
  detail: string,
  advice?: string,
): Check {
  return advice === undefined
    ? { name, status, detail }
    : { name, status, detail, advice };
}

/** A span of time for people: `80 ms`, `3 min`, `2 h`, `5 days`. */
export function span(ms: number): string {
  if (Math.abs(ms) < 1000) return `${Math.round(Math.abs(ms))} ms`;
  const seconds = Math.round(Math.abs(ms) / 1000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}

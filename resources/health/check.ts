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

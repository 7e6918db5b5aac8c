/** A field of an expectation that cannot be recorded. */
export interface ExpectationIssue {
  /** The field, as the caller wrote it. */
  readonly field: string;
  /** What is wrong with it, and what to do. */
  readonly message: string;
}

/**
 * Why an expectation was not recorded.
 *
 * - `invalid`: fields are wrong; `issues` lists all of them.
 * - `click_id_in_use`: the click id is still valid for another reference.
 * - `purchase_paid`: the service has shown success of the purchase, and other
 *   terms would change nothing.
 */
export type ExpectationErrorCode =
  | "invalid"
  | "click_id_in_use"
  | "purchase_paid";

/** A session or expectation was not recorded. Nothing was written. */
export class ExpectationError extends Error {
  /** Always `ExpectationError`. */
  override readonly name = "ExpectationError";
  /** Why it was not recorded. */
  readonly code: ExpectationErrorCode;
  /** Every field that is at fault. */
  readonly issues: readonly ExpectationIssue[];

  /**
   * Says which fields are at fault.
   *
   * @param issues Every field that is at fault.
   * @param code Why it was not recorded.
   */
  constructor(
    issues: readonly ExpectationIssue[],
    code: ExpectationErrorCode = "invalid",
  ) {
    super(
      "Cannot record what is expected: " +
        issues.map(({ field, message }) => `${field} ${message}`).join("; "),
    );
    this.code = code;
    this.issues = issues;
  }
}

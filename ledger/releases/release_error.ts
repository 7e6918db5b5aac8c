/**
 * Why a release by hand was not recorded.
 *
 * - `invalid`: a field is wrong.
 * - `unknown_order`: the ledger has no such order.
 * - `released_before`: a person delivered or refunded the order already.
 * - `reference_missing`: the order matches no expectation, so that `for` has to
 *   say what was delivered.
 */
export type ReleaseErrorCode =
  | "invalid"
  | "unknown_order"
  | "released_before"
  | "reference_missing";

/**
 * A release by hand was not recorded. Nothing was written.
 *
 * @example Tell why
 * ```ts
 * import { openLedger, ReleaseError } from "@rampkit/onramp/ledger";
 * import assert from "node:assert/strict";
 *
 * await using ledger = await openLedger({
 *   url: ":memory:",
 *   environment: "sandbox",
 * });
 * await assert.rejects(
 *   ledger.release("01ORDER", {
 *     outcome: "refunded",
 *     by: "Ada",
 *     why: "paid twice",
 *   }),
 *   (error) => error instanceof ReleaseError && error.code === "unknown_order",
 * );
 * ```
 */
export class ReleaseError extends Error {
  /** Always `ReleaseError`. */
  override readonly name = "ReleaseError";
  /** Why it was not recorded. */
  readonly code: ReleaseErrorCode;

  /**
   * Says why nothing was recorded.
   *
   * @param code Why it was not recorded.
   * @param message The same as a sentence.
   */
  constructor(code: ReleaseErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Why a change of a case was not recorded.
 *
 * - `invalid`: a field is wrong.
 * - `unknown_order`: the ledger has no such order.
 * - `not_closed`: the case is open, so that it cannot be opened again.
 * - `changed_since`: the order waits for another reason than the person saw.
 * - `person_erased`: the person of the order was erased, so that no note may
 *   be kept.
 */
export type CaseErrorCode =
  | "invalid"
  | "unknown_order"
  | "not_closed"
  | "changed_since"
  | "person_erased";

/**
 * A change of a case was not recorded. Nothing was written.
 *
 * @example Read the reason
 * ```ts
 * import { CaseError, openLedger } from "@rampkit/onramp/ledger";
 * import assert from "node:assert/strict";
 *
 * await using ledger = await openLedger({
 *   url: ":memory:",
 *   environment: "sandbox",
 * });
 * await assert.rejects(
 *   ledger.cases.change("01ORDER", { change: "asked", by: "Ada" }),
 *   (error) => error instanceof CaseError && error.code === "unknown_order",
 * );
 * ```
 */
export class CaseError extends Error {
  /** Always `CaseError`. */
  override readonly name = "CaseError";
  /** Why it was not recorded. */
  readonly code: CaseErrorCode;

  /**
   * Says why nothing was recorded.
   *
   * @param code Why it was not recorded.
   * @param message The same as a sentence.
   */
  constructor(code: CaseErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

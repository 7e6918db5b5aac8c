import { OnrampError, type OnrampErrorFacts } from "./onramp_error.ts";

/** One rule that an input breaks. */
export interface Fault {
  /** Field in the service's spelling, dotted where nested. */
  readonly field: string;
  /** The rule and what to do, in one sentence without its full stop. */
  readonly rule: string;
}

/**
 * An input breaks the service's rules: found here before sending
 * (`invalid_input`), or by the service (`rejected_input`).
 *
 * Card and personal data are never quoted.
 *
 * @example See every fault at once
 * ```ts
 * import { checkSessionInput, ValidationError } from "@rampkit/onramp/client";
 * import assert from "node:assert/strict";
 *
 * const { faults } = checkSessionInput(
 *   {
 *     flow_type: "simple",
 *     commodity: "USDC", // and no network
 *     currency: "USD",
 *     currency_amount: "0.5", // less than 1
 *   },
 *   { assets: "production" },
 * );
 * const error = new ValidationError("Cannot create a session", { faults });
 * assert.deepEqual(error.faults.map((fault) => fault.field), [
 *   "network",
 *   "currency_amount",
 * ]);
 * ```
 */
export class ValidationError extends OnrampError {
  /** Name of the class. */
  override readonly name = "ValidationError";
  /** Who found it: `invalid_input` is ours, `rejected_input` the service's. */
  override readonly code: "invalid_input" | "rejected_input";
  /** Never: the input has to change first. */
  override readonly retryable = false;
  /** Every fault; never empty. */
  readonly faults: readonly Fault[];

  /** Creates the error from what could not be done, and every fault. */
  constructor(
    message: string,
    facts: OnrampErrorFacts & { readonly faults: readonly Fault[] },
  ) {
    const list = facts.faults.map((f) => `${f.field}: ${f.rule}`).join("; ");
    super(`${message}: ${list}`, {
      field: facts.faults[0]?.field ?? null,
      ...facts,
    });
    this.code = facts.status === undefined || facts.status === null
      ? "invalid_input"
      : "rejected_input";
    this.faults = facts.faults;
  }
}

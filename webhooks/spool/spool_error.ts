/** What kind of trouble a {@linkcode SpoolError} reports. */
export type SpoolErrorCode =
  /** The spool holds as much as it may. */
  | "full"
  /** The spool was closed. */
  | "closed"
  /** The disk refused or failed; `cause` says how. */
  | "disk";

/**
 * The spool could not take a delivery.
 *
 * @example Tell a full spool from a broken disk
 * ```ts
 * import { SpoolError } from "@rampkit/onramp/webhooks";
 * import assert from "node:assert/strict";
 *
 * const error: unknown = new SpoolError("full", "Cannot spool: 9 bytes left");
 * assert(error instanceof SpoolError && error.code === "full");
 * ```
 */
export class SpoolError extends Error {
  /** Name of the class. */
  override readonly name = "SpoolError";
  /** What kind of trouble. */
  readonly code: SpoolErrorCode;

  /**
   * Makes the error.
   *
   * @param code What kind of trouble.
   * @param message The fault, and what to do about it.
   * @param options The error behind this one, if any.
   */
  constructor(code: SpoolErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

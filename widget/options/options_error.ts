/**
 * What is wrong with an option.
 *
 * - `required`: it is missing, or empty.
 * - `type`: it is of another type, for example `"false"` for `false`.
 * - `format`: it is of the right type, but not of the right form.
 * - `length`, `range`: too short, too long, too small, too precise.
 * - `unlisted`: the pair of commodity and network is not in the environment's
 *   asset table, or the value is not one of a documented list.
 * - `unavailable`: listed, but not in this environment or for this purpose.
 * - `duplicate`: it is named twice.
 * - `conflict`: it contradicts another option, or lacks one it needs.
 * - `inexact`: the SDK takes a number here, and no number holds the amount.
 * - `unknown`: there is no such option; it would be dropped silently.
 */
export type WidgetFaultCode =
  | "required"
  | "type"
  | "format"
  | "length"
  | "range"
  | "unlisted"
  | "unavailable"
  | "duplicate"
  | "conflict"
  | "inexact"
  | "unknown";

/** One fault of the options. */
export interface WidgetFault {
  /** Kind of fault. */
  readonly code: WidgetFaultCode;
  /** Where, for example `extra.wallets[1].network`. */
  readonly path: string;
  /** The value that was passed. */
  readonly value: unknown;
  /** What is wrong and what to do, without personal data. */
  readonly message: string;
}

/**
 * Widget options that would fail in front of a user: misuse, so a `TypeError`.
 * It holds every fault at once.
 */
export class WidgetOptionsError extends TypeError {
  /** Literal name. */
  override readonly name = "WidgetOptionsError";
  /** Literal code. */
  readonly code = "widget_options";
  /** Every fault, in the order of the options; at least one. */
  readonly faults: readonly WidgetFault[];

  /**
   * Creates one error from all faults.
   *
   * @param faults What is wrong; at least one.
   */
  constructor(faults: readonly WidgetFault[]) {
    super(
      `Cannot make widget options: ${faults.length} ` +
        `${faults.length === 1 ? "fault" : "faults"}: ` +
        faults.map((fault) => fault.message).join("; "),
    );
    this.faults = Object.freeze([...faults]);
  }
}

import { printable } from "../../core/printable.ts";
/** Everything that a person can do about an order. */
export const HAND_OUTCOMES = ["delivered", "refunded"] as const;

/**
 * What a person did about an order: handed over the goods, or returned the
 * money.
 */
export type HandOutcome = (typeof HAND_OUTCOMES)[number];

/** A delivery or refund of an order by a person. */
export interface HandRelease {
  /** What the person did. */
  readonly outcome: HandOutcome;
  /** Reference of the purchase that was delivered; null where none was named. */
  readonly reference: string | null;
  /** When the ledger learnt it, UTC ISO 8601 with milliseconds. */
  readonly recordedAt: string;
  /** Position of the event in the log. */
  readonly position: number;
}

/**
 * The one that the ledger learnt first, whatever the clocks said: what followed
 * from it is done. An order is released by hand once.
 */
export function firstHandRelease(
  known: HandRelease | null,
  added: HandRelease,
): HandRelease {
  return known !== null && known.position <= added.position ? known : added;
}

/** The most characters of who did something, and of what it refers to. */
export const LONGEST_NAME = 256;

/** Whether a person has written something that can be stored as it is. */
export function isHandText(value: unknown, most: number): value is string {
  return typeof value === "string" && value.trim() !== "" &&
    value.length <= most && value.isWellFormed() && !value.includes("\0");
}

/** Says which field of what a person records is wrong, and what to do. */
export function wrongHandField(
  field: string,
  value: unknown,
  advice: string,
): string {
  const text = typeof value === "string"
    ? value.length <= 100
      ? `"${printable(value)}"`
      : `a text of ${value.length} characters`
    : String(value);
  return `Wrong ${field}: ${text}; ${advice}`;
}

import { printable } from "../../core/printable.ts";
import type { PurchaseName } from "./expectation.ts";

/** Everything that a person can do about an order. */
export const HAND_OUTCOMES = [
  "delivered",
  "refunded",
  "written_off",
  "taken_back",
] as const;

/**
 * What a person did about an order: handed over the goods, returned the money,
 * gave it up, or took back what was recorded before.
 */
export type HandOutcome = (typeof HAND_OUTCOMES)[number];

/** What stands of an order: nothing does after `taken_back`. */
export type StandingOutcome = Exclude<HandOutcome, "taken_back">;

/** What a person recorded of an order. */
export interface HandRelease {
  /** What the person did. */
  readonly outcome: HandOutcome;
  /** The purchase that was delivered; null where nothing was. */
  readonly purchase: PurchaseName | null;
  /** When the ledger learnt it, UTC ISO 8601 with milliseconds. */
  readonly recordedAt: string;
  /** Identifier of the event. */
  readonly eventId: string;
}

/** The last by when it was recorded, then by the event's id. */
export function lastHandRelease(
  known: HandRelease | null,
  added: HandRelease,
): HandRelease {
  return known !== null &&
      (known.recordedAt > added.recordedAt ||
        (known.recordedAt === added.recordedAt &&
          known.eventId > added.eventId))
    ? known
    : added;
}

/** What stands of an order; null where nothing does. */
export function standingOutcome(
  hand: Pick<HandRelease, "outcome"> | null,
): StandingOutcome | null {
  return hand === null || hand.outcome === "taken_back" ? null : hand.outcome;
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

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

/** What a person recorded of an order: nothing of it is undone by what comes after. */
export interface Hand {
  /** The last that was recorded; null where nobody has recorded anything. */
  readonly hand: HandRelease | null;
  /**
   * The last delivery, or the last that took one back, where something else was
   * recorded after it; else null. A refund leaves what was delivered where it is.
   */
  readonly handed: HandRelease | null;
}

/** Adds what a person recorded, in whatever order it comes. */
export function evolveHand({ hand, handed }: Hand, added: HandRelease): Hand {
  const last = later(hand, added);
  const moved = [hand, handed, added].filter((one) =>
    one?.outcome === "delivered" || one?.outcome === "taken_back"
  ).reduce(later, null);
  return { hand: last, handed: moved === last ? null : moved };
}

/** The later by when it was recorded, then by the event's id. */
function later(
  a: HandRelease | null,
  b: HandRelease | null,
): HandRelease | null {
  if (a === null || b === null) return a ?? b;
  return a.recordedAt > b.recordedAt ||
      (a.recordedAt === b.recordedAt && a.eventId > b.eventId)
    ? a
    : b;
}

/** The purchase that a person delivered with an order; null where none stands. */
export function deliveredPurchase({ hand, handed }: Hand): PurchaseName | null {
  return (handed ?? hand)?.purchase ?? null;
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

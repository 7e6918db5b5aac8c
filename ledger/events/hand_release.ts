/**
 * What a person did about an order: handed out what it pays for, or returned
 * the money.
 */
export type HandOutcome = "delivered" | "refunded";

/** Every such outcome. */
export const HAND_OUTCOMES: readonly HandOutcome[] = ["delivered", "refunded"];

/** That a person delivered or refunded an order. */
export interface HandRelease {
  /** What the person did. */
  readonly outcome: HandOutcome;
  /** Reference of the purchase that was delivered; null where none was named. */
  readonly reference: string | null;
  /** When the ledger learnt it, UTC ISO 8601 with milliseconds. */
  readonly recordedAt: string;
  /** Identifier of the event. */
  readonly eventId: string;
}

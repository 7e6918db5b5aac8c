import { printable } from "../../core/printable.ts";
import {
  isIdentifier,
  LONGEST_IDENTIFIER,
} from "../../core/wire/identifier.ts";
import type { OrderReleasedBody } from "../events/event.ts";
import {
  HAND_OUTCOMES,
  type HandOutcome,
  isHandText,
  LONGEST_NAME,
  wrongHandField,
} from "../events/hand_release.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import type { ResolveOptions } from "../orders/resolve_order.ts";
import { matchedPurchase } from "./order_release.ts";

/** The longest reason, in characters. */
const LONGEST_WHY = 1000;

/** What a person did about an order. */
export interface ReleaseByHand {
  /** What the person did: handed over the goods, or returned the money. */
  readonly outcome: HandOutcome;
  /** Who did it. At most 256 characters. */
  readonly by: string;
  /**
   * Why. At most 1000 characters. Name no customer: an erasure keeps it.
   */
  readonly why: string;
  /**
   * Reference of the purchase that was delivered.
   *
   * @default {the purchase that the order matches}
   */
  readonly for?: string;
}

/** What a person did about an order. */
export interface RecordedRelease {
  /** What the person did. */
  readonly outcome: HandOutcome;
  /** Who did it. */
  readonly by: string;
  /** Why. */
  readonly why: string;
  /** Reference of the purchase that was delivered; null where none was named. */
  readonly for: string | null;
  /** When it was recorded, UTC ISO 8601 with milliseconds. */
  readonly at: string;
}

/**
 * What is stored of a release by hand.
 *
 * @param orderId The order.
 * @param release What the person did.
 * @throws {ReleaseError} `invalid` when a field is wrong.
 */
export function releaseBody(
  orderId: string,
  { outcome, by, why, for: reference }: ReleaseByHand,
): OrderReleasedBody {
  if (!HAND_OUTCOMES.includes(outcome)) {
    throw invalid("outcome", outcome, `use ${HAND_OUTCOMES.join(" or ")}`);
  }
  if (!isHandText(by, LONGEST_NAME)) {
    throw invalid("by", by, `use 1 to ${LONGEST_NAME} characters`);
  }
  if (!isHandText(why, LONGEST_WHY)) {
    throw invalid("why", why, `use 1 to ${LONGEST_WHY} characters`);
  }
  if (reference === undefined) return { order_id: orderId, outcome, by, why };
  if (outcome !== "delivered") {
    throw invalid("for", reference, "leave it out: nothing was delivered");
  }
  if (!isIdentifier(reference)) {
    throw invalid(
      "for",
      reference,
      `use 1 to ${LONGEST_IDENTIFIER} bytes in UTF-8`,
    );
  }
  return { order_id: orderId, outcome, by, why, for: reference };
}

/**
 * Refuses a release by hand that the order does not allow.
 *
 * @param body What is to be stored.
 * @param fold The order; null when the ledger has none.
 * @param options How to work out its state.
 * @throws {ReleaseError} `unknown_order`, `released_before` or
 * `reference_missing`.
 */
export function refuseRelease(
  body: OrderReleasedBody,
  fold: OrderFold | null,
  options: ResolveOptions,
): void {
  const id = printable(body.order_id);
  if (fold === null) {
    throw new ReleaseError(
      "unknown_order",
      `Cannot release an order that the ledger does not have: "${id}"`,
    );
  }
  if (fold.hand !== null) {
    const { outcome, recordedAt } = fold.hand;
    throw new ReleaseError(
      "released_before",
      `Cannot release an order by hand twice: ${id} was recorded as ` +
        `${outcome} at ${recordedAt}`,
    );
  }
  const isRead = fold.firstReadAt !== null;
  if (
    body.outcome === "delivered" && body.for === undefined && isRead &&
    matchedPurchase(fold, options) === null
  ) {
    throw new ReleaseError(
      "reference_missing",
      `Cannot tell what was delivered: ${id} matches no expectation; ` +
        "state the reference of the purchase",
    );
  }
}

function invalid(field: string, value: unknown, advice: string): ReleaseError {
  return new ReleaseError("invalid", wrongHandField(field, value, advice));
}

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
 * @example Read the reason
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

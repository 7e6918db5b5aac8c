import { printable } from "../../core/printable.ts";
import {
  isIdentifier,
  LONGEST_IDENTIFIER,
} from "../../core/wire/identifier.ts";
import type { OrderReleasedBody } from "../events/event.ts";
import type { PurchaseName } from "../events/expectation.ts";
import {
  HAND_OUTCOMES,
  type HandOutcome,
  isHandText,
  LONGEST_NAME,
  standingOutcome,
  wrongHandField,
} from "../events/hand_release.ts";
import { isFinal } from "../machines/order_machine.ts";
import { activityOf } from "../orders/activity_fold.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import type { ResolveOptions } from "../orders/resolve_order.ts";
import { matchedPurchase } from "./order_release.ts";

/** The longest reason, in characters. */
const LONGEST_WHY = 1000;

/** What a person did about an order. */
export interface ReleaseByHand {
  /**
   * What the person did: handed over the goods, returned the money, wrote it off,
   * or takes back what was recorded before.
   */
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
  /** Whether `for` may be a reference that was never recorded. @default false */
  readonly newReference?: boolean;
  /**
   * Whether the person has seen what speaks against it: what the service shows,
   * that programs were told to release, or what stands already. @default false
   */
  readonly confirmed?: boolean;
}

/** What a person did about an order. */
export interface RecordedRelease {
  /** What the person did. */
  readonly outcome: HandOutcome;
  /** Who did it. */
  readonly by: string;
  /** Why. */
  readonly why: string;
  /** The purchase that was delivered; null where nothing was. */
  readonly for: string | null;
  /** When it was recorded, UTC ISO 8601 with milliseconds. */
  readonly at: string;
}

/** What is known beside the order. */
export interface KnownOfRelease {
  /** Whether terms were ever recorded under `for`. */
  readonly isRecorded: boolean;
  /** Who was called with the `yes` of the order, and when; null for nobody. */
  readonly sentTo: { readonly name: string; readonly at: string } | null;
}

/**
 * Refuses a field that says nothing or too much.
 *
 * @throws {ReleaseError} `invalid`.
 */
export function checkRelease(
  { outcome, by, why, for: reference }: ReleaseByHand,
): void {
  if (!HAND_OUTCOMES.includes(outcome)) {
    throw invalid("outcome", outcome, `use ${HAND_OUTCOMES.join(" or ")}`);
  }
  if (!isHandText(by, LONGEST_NAME)) {
    throw invalid("by", by, `use 1 to ${LONGEST_NAME} characters`);
  }
  if (!isHandText(why, LONGEST_WHY)) {
    throw invalid("why", why, `use 1 to ${LONGEST_WHY} characters`);
  }
  if (reference === undefined) return;
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
}

/**
 * Decides what is stored of a release by hand. Pure.
 *
 * @param orderId The order.
 * @param release What the person did; {@linkcode checkRelease} has passed it.
 * @param fold The order; null when the ledger has none.
 * @param options How to work out its state, and what is known beside it.
 * @throws {ReleaseError} Where the order does not allow it.
 */
export function decideRelease(
  orderId: string,
  release: ReleaseByHand,
  fold: OrderFold | null,
  { isRecorded, sentTo, ...resolve }: ResolveOptions & KnownOfRelease,
): OrderReleasedBody {
  const id = printable(orderId);
  const { outcome, by, why, for: reference, confirmed = false } = release;
  if (fold === null) {
    throw new ReleaseError(
      "unknown_order",
      `Cannot record ${outcome} of an order that the ledger does not have: ` +
        `"${id}"; look it up with its order id`,
    );
  }
  if (fold.firstReadAt === null) {
    throw new ReleaseError(
      "not_shown",
      `Cannot record ${outcome} of an order that the service has not shown: ` +
        `"${id}"; only webhooks name it: ask the service first`,
    );
  }
  const standing = standingOutcome(fold.hand);
  if (outcome === "taken_back" && standing === null) {
    throw new ReleaseError(
      "nothing_stands",
      `Cannot take back what was recorded of an order: nothing stands of ${id}`,
    );
  }
  const purchase = outcome === "delivered"
    ? purchaseFor(id, reference, fold, resolve)
    : null;
  if (
    reference !== undefined && !isRecorded && release.newReference !== true
  ) {
    throw new ReleaseError(
      "reference_unknown",
      `Cannot record a delivery for a reference that was never recorded: ` +
        `"${printable(reference)}"; correct it, or say that it is a new one`,
    );
  }
  const doubts = outcome === "taken_back"
    ? []
    : doubtsOf(outcome, fold, { purchase, sentTo });
  if (doubts.length > 0 && !confirmed) {
    throw new ReleaseError(
      "needs_confirmation",
      `Cannot record ${outcome} of ${id} unless it is confirmed: ` +
        doubts.join("; "),
    );
  }
  const turn = (activityOf(fold.activity).counts.order_released ?? 0) + 1;
  return {
    ...{ order_id: orderId, outcome, by, why, turn },
    ...(purchase === null
      ? {}
      : purchase.kind === "reference"
      ? { for: purchase.name }
      : { for_click_id: purchase.name }),
    ...(confirmed ? { confirmed } : {}),
  };
}

function purchaseFor(
  id: string,
  reference: string | undefined,
  fold: OrderFold,
  resolve: ResolveOptions,
): PurchaseName {
  if (reference !== undefined) return { kind: "reference", name: reference };
  const matched = matchedPurchase(fold, resolve);
  if (matched !== null) return matched;
  throw new ReleaseError(
    "reference_missing",
    `Cannot tell what was delivered: ${id} matches no expectation; ` +
      "state the reference of the purchase",
  );
}

/** What speaks against a release by hand, with what is known. */
function doubtsOf(
  outcome: HandOutcome,
  { hand, latest }: OrderFold,
  { purchase, sentTo }: Pick<KnownOfRelease, "sentTo"> & {
    readonly purchase: PurchaseName | null;
  },
): string[] {
  const doubts: string[] = [];
  const status = latest?.status ?? "no status";
  const isEnded = latest !== null && isFinal(latest.status);
  if (outcome === "delivered" ? status !== "success" : !isEnded) {
    const paid = [latest?.currencyAmount, latest?.currency].filter(Boolean);
    doubts.push(
      `the service shows ${printable(status)}` +
        (paid.length === 0 ? "" : `, ${printable(paid.join(" "))}`) +
        (purchase === null ? "" : `, for ${printable(purchase.name)}`),
    );
  }
  if (sentTo !== null) {
    doubts.push(`its yes was sent to ${sentTo.name} at ${sentTo.at}`);
  }
  const standing = standingOutcome(hand);
  if (hand !== null && standing !== null) {
    doubts.push(`it was recorded as ${standing} at ${hand.recordedAt}`);
  }
  return doubts;
}

function invalid(field: string, value: unknown, advice: string): ReleaseError {
  return new ReleaseError("invalid", wrongHandField(field, value, advice));
}

/**
 * Why a release by hand was not recorded.
 *
 * - `invalid`: a field is wrong.
 * - `unknown_order`: the ledger has no such order.
 * - `not_shown`: only webhooks name the order.
 * - `reference_missing`: the order matches no expectation, so that `for` has to
 *   say what was delivered.
 * - `reference_unknown`: nothing was ever recorded under `for`.
 * - `needs_confirmation`: something speaks against it; the message says what.
 * - `nothing_stands`: there is nothing to take back.
 */
export type ReleaseErrorCode =
  | "invalid"
  | "unknown_order"
  | "not_shown"
  | "reference_missing"
  | "reference_unknown"
  | "needs_confirmation"
  | "nothing_stands";

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

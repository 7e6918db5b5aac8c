import { printable } from "../../core/text.ts";
import { isIdentifier, LONGEST_IDENTIFIER } from "../../core/wire/objects.ts";
import {
  HAND_OUTCOMES,
  type HandOutcome,
  isHandText,
  LONGEST_NAME,
  type OrderReleasedBody,
  type PurchaseName,
  purchaseOf,
  standingOutcome,
  wrongHandField,
} from "../events/event.ts";
import { isFinal } from "../machines/machine.ts";
import { activityOf, type OrderFold } from "../orders/order_fold.ts";
import type { ResolveOptions } from "../orders/order_status.ts";
import { matchExpectations } from "../outcomes/match.ts";

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
export function checkRelease(release: ReleaseByHand): void {
  const { outcome, for: reference } = release;
  const check = (field: keyof ReleaseByHand, holds: boolean, advice: string) =>
    refuse(!holds, "invalid", wrongHandField(field, release[field], advice));
  const checkText = (field: "by" | "why", most: number) =>
    check(
      field,
      isHandText(release[field], most),
      `use 1 to ${most} characters`,
    );
  const outcomes = HAND_OUTCOMES.join(" or ");
  check("outcome", HAND_OUTCOMES.includes(outcome), `use ${outcomes}`);
  checkText("by", LONGEST_NAME);
  checkText("why", LONGEST_WHY);
  if (reference === undefined) return;
  const advice = "leave it out: nothing was delivered";
  check("for", outcome === "delivered", advice);
  const length = `use 1 to ${LONGEST_IDENTIFIER} bytes in UTF-8`;
  check("for", isIdentifier(reference), length);
}

function refuse(
  isRefused: boolean,
  code: ReleaseErrorCode,
  message: string,
): void {
  if (isRefused) throw new ReleaseError(code, message);
}

/**
 * Decides what is stored of a release by hand. Pure.
 *
 * @throws {ReleaseError} Where the order does not allow it.
 */
export function decideRelease(
  orderId: string,
  release: ReleaseByHand,
  fold: OrderFold | null,
  { isRecorded, sentTo, assets = "production" }:
    & ResolveOptions
    & KnownOfRelease,
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
  const { latest, hand } = fold;
  const { match, expected } = matchExpectations(fold, assets);
  const matched = match === "matched" ? expected && purchaseOf(expected) : null;
  const isDelivered = outcome === "delivered";
  const purchase: PurchaseName | null = !isDelivered
    ? null
    : reference === undefined
    ? matched
    : { kind: "reference", name: reference };
  const isTakenBack = outcome === "taken_back";
  const standing = standingOutcome(hand);
  const status = latest?.status ?? "no status";
  const isAsShown = isDelivered ? status === "success" : isFinal(status);
  const paid = [latest?.currencyAmount, latest?.currency].filter(Boolean);
  const shown = [
    `the service shows ${printable(status)}`,
    printable(paid.join(" ")),
    purchase && `for ${printable(purchase.name)}`,
  ];
  const doubts = [
    !isAsShown && shown.filter(Boolean).join(", "),
    sentTo && `its yes was sent to ${sentTo.name} at ${sentTo.at}`,
    standing && `it was recorded as ${standing} at ${hand?.recordedAt}`,
  ].filter(Boolean);
  refuse(
    fold.firstReadAt === null,
    "not_shown",
    `Cannot record ${outcome} of an order that the service has not shown: ` +
      `"${id}"; only webhooks name it: ask the service first`,
  );
  refuse(
    isTakenBack && standing === null,
    "nothing_stands",
    `Cannot take back what was recorded of an order: nothing stands of ${id}`,
  );
  refuse(
    isDelivered && purchase === null,
    "reference_missing",
    `Cannot tell what was delivered: ${id} matches no expectation; ` +
      "state the reference of the purchase",
  );
  refuse(
    reference !== undefined && !isRecorded && release.newReference !== true,
    "reference_unknown",
    "Cannot record a delivery for a reference that was never recorded: " +
      `"${
        printable(reference ?? "")
      }"; correct it, or say that it is a new one`,
  );
  refuse(
    doubts.length > 0 && !confirmed && !isTakenBack,
    "needs_confirmation",
    `Cannot record ${outcome} of ${id} unless it is confirmed: ` +
      doubts.join("; "),
  );
  const turn = (activityOf(fold.activity).counts.order_released ?? 0) + 1;
  const key = purchase?.kind === "reference" ? "for" : "for_click_id";
  return {
    ...{ order_id: orderId, outcome, by, why, turn },
    ...purchase && { [key]: purchase.name },
    ...confirmed && { confirmed },
  };
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

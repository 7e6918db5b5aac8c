import { type PurchaseName, purchaseOf } from "../events/expectation.ts";
import type { HandOutcome } from "../events/hand_release.ts";
import type { Status, Trust } from "../machines/transition.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import { decideOrderStatus } from "../orders/order_status.ts";
import type { ResolveOptions } from "../orders/resolve_order.ts";
import { factsOfOrder } from "../outcomes/facts_of_order.ts";
import { matchExpectations } from "../outcomes/match.ts";
import { outcomeOf } from "../outcomes/outcome.ts";
import type { Release, ReleaseReason } from "../outcomes/outcome_table.ts";

/** Release of an order, by the facts known so far. */
export interface OrderRelease {
  /** Whether the goods may be released. */
  readonly release: Release;
  /** Why. */
  readonly reason: ReleaseReason;
  /** Status of the order at that moment. */
  readonly status: Status;
  /** Trust in that status. */
  readonly trust: Trust;
  /** What the order pays for; null unless an expectation matched. */
  readonly purchase: PurchaseName | null;
  /** When that expectation was recorded, UTC ISO 8601; null without. */
  readonly expectedAt: string | null;
  /** What a person did about the order; null when nobody has acted on it. */
  readonly byHand: HandOutcome | null;
}

/**
 * The release of an order, where there is one to log: the log begins with the
 * first reading that shows success.
 *
 * @param fold Folded facts of the order.
 * @param options How to work out its state.
 * @returns Null while no reading has shown success.
 */
export function orderRelease(
  fold: OrderFold,
  { assets = "production" }: ResolveOptions,
): OrderRelease | null {
  if (!fold.observedStatuses.some(({ status }) => status === "success")) {
    return null;
  }
  const { match, expected } = matchExpectations(fold, assets);
  const { release, reason } = outcomeOf(factsOfOrder(fold, match));
  const { status, trust } = decideOrderStatus(fold);
  const matched = match === "matched" ? expected : null;
  return {
    release,
    reason,
    status,
    trust,
    purchase: matched === null ? null : purchaseOf(matched),
    expectedAt: matched?.recordedAt ?? null,
    byHand: fold.hand?.outcome ?? null,
  };
}

/**
 * The purchase that a person delivered with an order: the one that was named,
 * else the one that the order matches.
 *
 * @param fold Folded facts of the order.
 * @param options How to work out its state.
 * @returns Null while there is none, and where nothing was delivered.
 */
export function handPurchase(
  fold: OrderFold,
  options: ResolveOptions,
): PurchaseName | null {
  const { hand } = fold;
  if (hand?.outcome !== "delivered") return null;
  return hand.reference === null
    ? matchedPurchase(fold, options)
    : { kind: "reference", name: hand.reference };
}

/** The purchase that an order matches; null where it matches none. */
export function matchedPurchase(
  fold: OrderFold,
  { assets = "production" }: ResolveOptions,
): PurchaseName | null {
  const { match, expected } = matchExpectations(fold, assets);
  return match === "matched" && expected !== null ? purchaseOf(expected) : null;
}

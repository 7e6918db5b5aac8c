import { type PurchaseName, purchaseOf } from "../events/expectation.ts";
import {
  type StandingOutcome,
  standingOutcome,
} from "../events/hand_release.ts";
import type { Status, Trust } from "../machines/transition.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import {
  decideOrderStatus,
  type ResolveOptions,
} from "../orders/order_status.ts";
import { factsOfOrder } from "../outcomes/facts_of_order.ts";
import { matchExpectations } from "../outcomes/match.ts";
import { outcomeOf } from "../outcomes/outcome.ts";
import type { OutcomeRow } from "../outcomes/outcome_table.ts";

/** Release of an order, by the facts known so far. */
export interface OrderRelease extends Pick<OutcomeRow, "release" | "reason"> {
  /** Status of the order at that moment, and trust in it. */
  readonly status: Status;
  readonly trust: Trust;
  /** What the order pays for; null unless an expectation matched. */
  readonly purchase: PurchaseName | null;
  /** When that expectation was recorded, UTC ISO 8601; null without. */
  readonly expectedAt: string | null;
  /** What a person settled of the order; null where nothing stands. */
  readonly byHand: StandingOutcome | null;
}

/**
 * The release of an order by its row, where there is one to log: the log begins
 * with the first reading of a success, or with what a person did about the order.
 */
export function orderRelease(
  fold: OrderFold,
  { assets = "production" }: ResolveOptions,
): OrderRelease | null {
  if (fold.successReadAt === null && fold.hand === null) return null;
  const { match, expected } = matchExpectations(fold, assets);
  const { release, reason } = outcomeOf(factsOfOrder(fold, match));
  const { status, trust } = decideOrderStatus(fold);
  const matched = match === "matched" ? expected : null;
  return {
    ...{ release, reason, status, trust },
    purchase: matched && purchaseOf(matched),
    expectedAt: matched?.recordedAt ?? null,
    byHand: standingOutcome(fold.hand),
  };
}

/** The purchase that an order matches; null where it matches none. */
export function matchedPurchase(
  fold: OrderFold,
  { assets = "production" }: ResolveOptions,
): PurchaseName | null {
  const { match, expected } = matchExpectations(fold, assets);
  return match === "matched" ? expected && purchaseOf(expected) : null;
}

import { compareTimes } from "../events/time.ts";
import type { HandOutcome, HandRelease } from "../events/hand_release.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import type { AttentionKind } from "./attention_kind.ts";
import type { StoredFacts } from "./outcome_facts.ts";

/** What a person did about an order, as readers see it. */
export interface ByHand {
  /** What the person did. */
  readonly outcome: HandOutcome;
  /** When it was recorded, UTC ISO 8601 with milliseconds. */
  readonly at: string;
  /**
   * Reasons that this has settled; the service has shown nothing new since.
   */
  readonly settled: readonly AttentionKind[];
}

/** Whether the customer of an order that has ended has the money back. */
const MONEY_BACK: ReadonlySet<AttentionKind> = new Set([
  "refund_due",
  "cancelled_after_payment",
  "amount_mismatch",
  "final_changed",
]);

/**
 * What a person did about an order, and which reasons that settles.
 *
 * While the service shows success a person has to decide about the release, and
 * has done so. When an order has ended, the customer must get the money back: a
 * refund settles that. What is left stays listed: goods that were delivered for
 * an order that ended, a success that was taken back, a transaction without
 * success, and an order that is not shown.
 *
 * @param fold Folded facts of the order.
 * @param facts What its outcome depends on.
 * @param attention Why a person would have to look.
 * @returns Null while nobody did anything.
 */
export function byHandOf(
  fold: OrderFold,
  facts: StoredFacts,
  attention: readonly AttentionKind[],
): ByHand | null {
  const { hand } = fold;
  if (hand === null) return null;
  return {
    outcome: hand.outcome,
    at: hand.recordedAt,
    settled: wasRead(fold, hand)
      ? attention.filter((kind) => settles(hand.outcome, kind, facts))
      : [],
  };
}

function settles(
  outcome: HandOutcome,
  kind: AttentionKind,
  { shown, gone }: StoredFacts,
): boolean {
  if (gone === "yes") return false;
  return shown === "success" ||
    (outcome === "refunded" && MONEY_BACK.has(kind) &&
      (shown === "failed" || shown === "cancelled"));
}

/** Whether the service had shown what it shows now when the person acted. */
function wasRead(
  { firstReadAt, latest }: OrderFold,
  { recordedAt }: HandRelease,
): boolean {
  return firstReadAt !== null && latest !== null &&
    compareTimes(firstReadAt, recordedAt) <= 0 &&
    compareTimes(latest.changedAt, recordedAt) <= 0;
}

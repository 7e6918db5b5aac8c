import { compareTimes } from "../events/time.ts";
import {
  type HandRelease,
  type StandingOutcome,
  standingOutcome,
} from "../events/hand_release.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import { ATTENTION_KINDS, type AttentionKind } from "./attention_kind.ts";
import type { Outcome } from "./outcome.ts";
import type { StoredFacts } from "./outcome_facts.ts";

/** What a person recorded of an order and has not taken back. */
export interface ByHand {
  /** What the person did. */
  readonly outcome: StandingOutcome;
  /** When it was recorded, UTC ISO 8601 with milliseconds. */
  readonly at: string;
  /** Whether the service has shown nothing new since. */
  readonly seen: boolean;
  /** Reasons that this has settled. */
  readonly settled: readonly AttentionKind[];
}

/** Reasons that end once the customer of an order that has ended is refunded. */
const MONEY_BACK: ReadonlySet<AttentionKind> = new Set([
  "refund_due",
  "cancelled_after_payment",
  "amount_mismatch",
  "final_changed",
]);

/**
 * What a person recorded of an order, and which reasons that settles. Null where
 * nothing stands.
 */
export function byHandOf(
  fold: OrderFold,
  facts: StoredFacts,
  outcome: Outcome,
): ByHand | null {
  const { hand } = fold;
  const standing = standingOutcome(hand);
  if (hand === null || standing === null) return null;
  const byHand = {
    outcome: standing,
    at: hand.recordedAt,
    seen: wasRead(fold, hand),
  };
  const settled = outcome.attention.filter((kind) =>
    settles(kind, byHand, facts)
  );
  return { ...byHand, settled };
}

/**
 * Lays what a person recorded over the outcome of an order's row. What the service
 * says with `no` stays; row and booking do not change. Goods that were delivered
 * before the order ended are listed.
 */
export function settle(
  outcome: Outcome,
  facts: Pick<StoredFacts, "shown" | "gone">,
  byHand: ByHand | null,
): Outcome {
  if (byHand === null) return outcome;
  const { release, reason } = outcome.release === "no"
    ? outcome
    : { release: "settled", reason: byHand.outcome } as const;
  const isReversed = byHand.outcome === "delivered" && release === "no" &&
    !byHand.seen;
  return {
    ...outcome,
    release,
    reason,
    attention: ATTENTION_KINDS.filter((kind) =>
      (kind === "reversed_after_success" && isReversed) ||
      (outcome.attention.includes(kind) && !settles(kind, byHand, facts))
    ),
  };
}

/**
 * Whether what a person recorded ends a reason. Another order that holds the
 * purchase is a person's to decide about, and one has decided.
 */
function settles(
  kind: AttentionKind,
  { outcome, seen }: Pick<ByHand, "outcome" | "seen">,
  { shown, gone }: Pick<StoredFacts, "shown" | "gone">,
): boolean {
  if (kind === "paid_twice") return true;
  if (!seen || gone === "yes") return false;
  if (shown === "success" || outcome === "written_off") return true;
  return outcome === "refunded" && MONEY_BACK.has(kind) &&
    (shown === "failed" || shown === "cancelled");
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

import type { AttentionKind } from "./attention_kind.ts";
import type { ByHand } from "./settled_by_hand.ts";

/**
 * The reasons that nobody has settled. If another order holds the purchase, the
 * person who delivered or refunded this one has decided.
 *
 * @param attention Why a person would have to look, had nobody done anything.
 */
export function withoutSettled(
  attention: readonly AttentionKind[],
  byHand: ByHand | null,
): readonly AttentionKind[] {
  if (byHand === null) return attention;
  return attention.filter((kind) =>
    kind !== "paid_twice" && !byHand.settled.includes(kind)
  );
}

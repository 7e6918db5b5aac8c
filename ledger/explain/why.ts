/** Why an event changed the state of an order, or why it did not. */
import type { AssetTable } from "../../core/assets/environment.ts";
import { askedAtOf, validUntil } from "../events/expectation.ts";
import type {
  ExpectationFact,
  Fact,
  OrderSnapshotFact,
  WebhookFact,
} from "../events/fact.ts";
import { isFinal, isKnown, orderRank } from "../machines/order_machine.ts";
import { expectationWindow } from "../orders/expectations.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import { claimState, decideOrderStatus } from "../orders/order_status.ts";
import { matchExpectations } from "../outcomes/match.ts";
import type { EffectReason } from "./explanation.ts";

/** What an event met, and what it left. */
interface Step {
  readonly before: OrderFold;
  readonly after: OrderFold;
  /** An earlier event that said the same. */
  readonly repeated: Fact | undefined;
  readonly assets: AssetTable;
}

/** The codes of reasons that need no data. */
type CodeOf<Reason> = Reason extends { readonly code: infer Code }
  ? keyof Reason extends "code" ? Code : never
  : never;
type Code = CodeOf<EffectReason>;

/** Why a fact of a kind changes the order, and why it does not. */
const BY_KIND: Readonly<
  Partial<Record<Fact["kind"], readonly [changed: Code, unchanged: Code]>>
> = {
  order_absent: ["absence", "shown_since"],
  order_contradicted: ["contradiction", "no_claim_to_contradict"],
  chain_reading: ["looked", "look_does_not_count"],
  witness_required: ["required", "not_of_order"],
  order_released: ["person", "person_noted"],
};

export function whyOf(
  fact: Fact,
  isChanged: boolean,
  step: Step,
): EffectReason {
  switch (fact.kind) {
    case "webhook":
      return webhookWhy(step, fact, isChanged);
    case "unreadable": {
      const code = isChanged ? "names_order_unreadably" : "unreadable";
      return { code, reason: fact.reason };
    }
    case "order_snapshot":
      return isChanged ? { code: "reading" } : readingWhy(step, fact);
    case "session_created":
    case "order_expected":
      return { code: isChanged ? "session" : expectationWhy(step, fact) };
    default: {
      const [changed, unchanged] = BY_KIND[fact.kind] ??
        ["names_order", "not_of_order"];
      return { code: isChanged ? changed : unchanged };
    }
  }
}

function expectationWhy(
  { after: order, assets }: Step,
  { expectation }: ExpectationFact,
): Code {
  const { match, expected } = matchExpectations(order, assets);
  if (expected?.id === expectation.id) return "expectation_known";
  const window = expectationWindow(order);
  if (window === null) return "expectation_not_linked";
  if (window.clickId !== expectation.clickId) {
    return "expectation_of_other_click_id";
  }
  if (askedAtOf(expectation) > window.until) return "expectation_after_order";
  if (validUntil(expectation) < window.from) return "expectation_expired";
  return match === "several" && expected === null
    ? "click_id_shared_by_many"
    : "order_of_other_expectation";
}

function readingWhy(
  { before, after: { latest } }: Step,
  { reading }: OrderSnapshotFact,
): EffectReason {
  if (reading.status === "") return { code: "reading_without_status" };
  return latest !== reading && latest === before.latest
    ? { code: "later_state_known", changedAt: latest?.changedAt || null }
    : { code: "reading_unchanged" };
}

function webhookWhy(
  { after, repeated }: Step,
  fact: WebhookFact,
  isChanged: boolean,
): EffectReason {
  if (!isChanged && repeated !== undefined) {
    return { code: "repeated", position: repeated.position };
  }
  const { status, trust } = decideOrderStatus(after);
  const isClaimed = trust === "claimed";
  const claim = after.claims.find(({ status }) => status === fact.claim);
  if (claim !== undefined && claim.status !== status) {
    const claimed = claim.status;
    const state = claimState(after, claim);
    if (state === "observed") {
      return { code: "claim_used_up", claimed, read: status };
    }
    if (state === "contradicted") {
      return { code: "claim_contradicted", claimed };
    }
    if (isClaimed) return { code: "higher_claim", claimed, higher: status };
    if (isFinal(status)) return { code: "reading_is_final", read: status };
    if (!isKnown(status)) return { code: "reading_unrecognised", read: status };
    const isAbove = orderRank(status) > orderRank(claimed);
    const code = isAbove ? "reading_ranks_above" : "reading_ranks_equal";
    return { code, claimed, read: status };
  }
  if (!isChanged) return { code: isClaimed ? "claimed_before" : "read_before" };
  return isClaimed
    ? { code: "claim_counts" }
    : { code: "already_confirmed", read: status };
}

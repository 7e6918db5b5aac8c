import type { AssetTable } from "../../core/assets/environment.ts";
import type { ExplainedEvent, FieldChange } from "./explanation.ts";
import type {
  ExpectationFact,
  Fact,
  OrderSnapshotFact,
  WebhookFact,
} from "../events/fact.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import { isFinal, isKnown, orderRank } from "../machines/order_machine.ts";
import {
  claimState,
  type DecidedStatus,
  decideOrderStatus,
} from "../orders/order_status.ts";
import { matchExpectations } from "../outcomes/match.ts";
import { expectationWindow } from "../orders/expectations.ts";
import { askedAtOf, validUntil } from "../events/expectation.ts";
import type { EffectReason } from "./effect.ts";

type Verdict = Pick<ExplainedEvent, "effect" | "why">;

/** Fields that only record what was received: no decision depends on them. */
const heard: ReadonlySet<string> = new Set(["history", "sessions"]);

/** An event, and what it changed. */
interface EventEffect {
  readonly before: OrderFold;
  readonly after: OrderFold;
  readonly fact: Fact;
  /** Fields of the state that changed. */
  readonly changes: readonly FieldChange[];
  /** An earlier event that said the same. */
  readonly repeated: Fact | undefined;
  readonly assets: AssetTable;
}

/** What an event did to the state, and why. */
export function explainEvent(event: EventEffect): Verdict {
  const { fact, changes } = event;
  const isChanged = changes.some(({ field }) => !heard.has(field));
  return {
    effect: isChanged ? "changed" : changes.length > 0 ? "noted" : "unchanged",
    why: fact.kind === "webhook"
      ? webhookWhy(event, fact, isChanged)
      : fact.kind === "unreadable"
      ? {
        code: isChanged ? "names_order_unreadably" : "unreadable",
        reason: fact.reason,
      }
      : isChanged
      ? CHANGED_BY[fact.kind] ?? { code: "names_order" }
      : unchangedWhy(event),
  };
}

const CHANGED_BY: Readonly<Partial<Record<Fact["kind"], EffectReason>>> = {
  order_snapshot: { code: "reading" },
  order_absent: { code: "absence" },
  order_contradicted: { code: "contradiction" },
  chain_reading: { code: "looked" },
  witness_required: { code: "required" },
  session_created: { code: "session" },
  order_expected: { code: "session" },
  order_released: { code: "person" },
};

function unchangedWhy(
  { before, after, fact, assets }: EventEffect,
): EffectReason {
  switch (fact.kind) {
    case "order_snapshot":
      return readingWhy(before, after, fact);
    case "order_absent":
      return { code: "shown_since" };
    case "order_contradicted":
      return { code: "no_claim_to_contradict" };
    case "chain_reading":
      return { code: "look_does_not_count" };
    case "session_created":
    case "order_expected":
      return expectationWhy(after, fact, assets);
    case "order_released":
      return { code: "person_noted" };
    default:
      return { code: "not_of_order" };
  }
}

function expectationWhy(
  order: OrderFold,
  { expectation }: ExpectationFact,
  assets: AssetTable,
): EffectReason {
  const { match, expected } = matchExpectations(order, assets);
  if (expected?.id === expectation.id) return { code: "expectation_known" };
  const window = expectationWindow(order);
  if (window === null) return { code: "expectation_not_linked" };
  if (window.clickId !== expectation.clickId) {
    return { code: "expectation_of_other_click_id" };
  }
  if (askedAtOf(expectation) > window.until) {
    return { code: "expectation_after_order" };
  }
  if (validUntil(expectation) < window.from) {
    return { code: "expectation_expired" };
  }
  return match === "several" && expected === null
    ? { code: "click_id_shared_by_many" }
    : { code: "order_of_other_expectation" };
}

function readingWhy(
  before: OrderFold,
  { latest }: OrderFold,
  { reading }: OrderSnapshotFact,
): EffectReason {
  if (reading.status === "") return { code: "reading_without_status" };
  return latest !== reading && latest === before.latest
    ? { code: "later_state_known", changedAt: latest?.changedAt || null }
    : { code: "reading_unchanged" };
}

function webhookWhy(
  { after, repeated }: EventEffect,
  fact: WebhookFact,
  isChanged: boolean,
): EffectReason {
  if (!isChanged && repeated !== undefined) {
    return { code: "repeated", position: repeated.position };
  }
  const status = decideOrderStatus(after);
  const against = ruleAgainst(after, fact, status);
  if (against !== null) return against;
  const isClaimed = status.trust === "claimed";
  if (!isChanged) return { code: isClaimed ? "claimed_before" : "read_before" };
  return isClaimed
    ? { code: "claim_counts" }
    : { code: "already_confirmed", read: status.status };
}

/** Why a claim is not the status of the order; null when it is. */
function ruleAgainst(
  after: OrderFold,
  fact: WebhookFact,
  { status, trust }: DecidedStatus,
): EffectReason | null {
  const claim = after.claims.find(({ status }) => status === fact.claim);
  if (claim === undefined || claim.status === status) return null;
  const claimed = claim.status;
  switch (claimState(after, claim)) {
    case "observed":
      return { code: "claim_used_up", claimed, read: status };
    case "contradicted":
      return { code: "claim_contradicted", claimed };
    case "counted":
      if (trust === "claimed") {
        return { code: "higher_claim", claimed, higher: status };
      }
      if (isFinal(status)) return { code: "reading_is_final", read: status };
      if (!isKnown(status)) {
        return { code: "reading_unrecognised", read: status };
      }
      return {
        code: orderRank(status) > orderRank(claimed)
          ? "reading_ranks_above"
          : "reading_ranks_equal",
        claimed,
        read: status,
      };
  }
}

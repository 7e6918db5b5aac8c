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
export interface EventEffect {
  /** The order before it. */
  readonly before: OrderFold;
  /** The order after it. */
  readonly after: OrderFold;
  /** The event. */
  readonly fact: Fact;
  /** Fields of the state that changed. */
  readonly changes: readonly FieldChange[];
  /** An earlier event that said the same. */
  readonly repeated: Fact | undefined;
  /** Asset table that gives the precision of amounts. */
  readonly assets: AssetTable;
}

/** What an event did to the state, and why. */
export function explainEvent(effect: EventEffect): Verdict {
  const { changes } = effect;
  const visible = changes.filter(({ field }) => !heard.has(field));
  const explained = explainChanges({ ...effect, changes: visible });
  return changes.length > visible.length && visible.length === 0
    ? { ...explained, effect: "noted" }
    : explained;
}

function explainChanges(
  { before, after, fact, changes, repeated, assets }: EventEffect,
): Verdict {
  if (changes.length > 0 && fact.kind !== "webhook") {
    return { effect: "changed", why: changedWhy(fact) };
  }
  switch (fact.kind) {
    case "webhook":
      return explainWebhook(after, fact, changes, repeated);
    case "order_snapshot":
      return explainSnapshot(before, after, fact);
    case "order_absent":
      return {
        effect: "unchanged",
        why: { code: "shown_since" },
      };
    case "order_contradicted":
      return {
        effect: "unchanged",
        why: { code: "no_claim_to_contradict" },
      };
    case "chain_reading":
      return { effect: "unchanged", why: { code: "look_does_not_count" } };
    case "session_created":
    case "order_expected":
      return { effect: "unchanged", why: expectationWhy(after, fact, assets) };
    case "order_released":
      return { effect: "unchanged", why: { code: "person_noted" } };
    case "unreadable":
      return {
        effect: "unchanged",
        why: { code: "unreadable", reason: fact.reason },
      };
    default:
      return { effect: "unchanged", why: { code: "not_of_order" } };
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

function changedWhy(fact: Fact): EffectReason {
  switch (fact.kind) {
    case "order_snapshot":
      return { code: "reading" };
    case "order_absent":
      return { code: "absence" };
    case "order_contradicted":
      return { code: "contradiction" };
    case "chain_reading":
      return { code: "looked" };
    case "witness_required":
      return { code: "required" };
    case "session_created":
    case "order_expected":
      return { code: "session" };
    case "order_released":
      return { code: "person" };
    case "unreadable":
      return { code: "names_order_unreadably", reason: fact.reason };
    default:
      return { code: "names_order" };
  }
}

function explainWebhook(
  after: OrderFold,
  fact: WebhookFact,
  changes: readonly FieldChange[],
  repeated: Fact | undefined,
): Verdict {
  const status = decideOrderStatus(after);
  const against = ruleAgainst(after, fact, status);
  if (changes.length > 0) {
    return {
      effect: "changed",
      why: against ??
        (status.trust === "claimed"
          ? { code: "claim_counts" }
          : { code: "already_confirmed", read: status.status }),
    };
  }
  if (repeated !== undefined) {
    return {
      effect: "unchanged",
      why: { code: "repeated", position: repeated.position },
    };
  }
  return {
    effect: "unchanged",
    why: against ??
      { code: status.trust === "confirmed" ? "read_before" : "claimed_before" },
  };
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

function explainSnapshot(
  before: OrderFold,
  after: OrderFold,
  fact: OrderSnapshotFact,
): Verdict {
  if (fact.reading.status === "") {
    return {
      effect: "unchanged",
      why: { code: "reading_without_status" },
    };
  }
  if (after.latest !== fact.reading && after.latest === before.latest) {
    return {
      effect: "unchanged",
      why: {
        code: "later_state_known",
        changedAt: after.latest?.changedAt || null,
      },
    };
  }
  return {
    effect: "unchanged",
    why: { code: "reading_unchanged" },
  };
}

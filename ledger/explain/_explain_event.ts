import type { ExplainedEvent, FieldChange } from "./explanation.ts";
import type {
  Fact,
  OrderSnapshotFact,
  SessionFact,
  WebhookFact,
} from "../events/fact.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import { isFinal, isKnown, orderRank } from "../orders/order_rank.ts";
import {
  claimStanding,
  type DecidedStatus,
  decideOrderStatus,
} from "../orders/order_status.ts";
import { ownSession } from "../orders/own_session.ts";
import { beganBy } from "../orders/sessions.ts";
import { compareTimes } from "../events/time.ts";
import type { OutcomeReason } from "./outcome.ts";

type Verdict = Pick<ExplainedEvent, "outcome" | "why">;

/** What was heard of an order: nothing that is decided depends on it. */
const heard: ReadonlySet<string> = new Set(["history", "sessions"]);

/** What an event did to the state, and why. */
export function explainEvent(
  before: OrderFold,
  after: OrderFold,
  fact: Fact,
  changes: readonly FieldChange[],
  repeated: Fact | undefined,
): Verdict {
  const visible = changes.filter(({ field }) => !heard.has(field));
  const explained = explainChanges(before, after, fact, visible, repeated);
  return changes.length > visible.length && visible.length === 0
    ? { ...explained, outcome: "noted" }
    : explained;
}

function explainChanges(
  before: OrderFold,
  after: OrderFold,
  fact: Fact,
  changes: readonly FieldChange[],
  repeated: Fact | undefined,
): Verdict {
  if (changes.length > 0 && fact.kind !== "webhook") {
    return { outcome: "changed", why: changedWhy(fact) };
  }
  switch (fact.kind) {
    case "webhook":
      return explainWebhook(after, fact, changes, repeated);
    case "order_snapshot":
      return explainSnapshot(before, after, fact);
    case "order_absent":
      return {
        outcome: "unchanged",
        why: { code: "shown_since" },
      };
    case "order_contradicted":
      return {
        outcome: "unchanged",
        why: { code: "no_claim_to_contradict" },
      };
    case "session_created":
      return { outcome: "unchanged", why: sessionWhy(after, fact) };
    case "unreadable":
      return {
        outcome: "unchanged",
        why: { code: "unreadable", reason: fact.reason },
      };
    default:
      return { outcome: "unchanged", why: { code: "not_of_order" } };
  }
}

function sessionWhy(order: OrderFold, { asked }: SessionFact): OutcomeReason {
  const own = ownSession(order);
  if (own?.asked.sessionId === asked.sessionId) {
    return { code: "session_known" };
  }
  if (order.latest === null) {
    return { code: "session_not_linked" };
  }
  if (order.latest.clickId !== asked.clickId) {
    return { code: "session_of_other_click_id" };
  }
  const began = beganBy(order);
  if (began !== null && compareTimes(asked.recordedAt, began) > 0) {
    return { code: "session_after_order" };
  }
  return own === null
    ? { code: "click_id_shared_by_many" }
    : { code: "order_of_other_session" };
}

function changedWhy(fact: Fact): OutcomeReason {
  switch (fact.kind) {
    case "order_snapshot":
      return { code: "reading" };
    case "order_absent":
      return { code: "absence" };
    case "order_contradicted":
      return { code: "contradiction" };
    case "session_created":
      return { code: "session" };
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
      outcome: "changed",
      why: against ??
        (status.trust === "claimed"
          ? { code: "claim_counts" }
          : { code: "already_confirmed", read: status.status }),
    };
  }
  if (repeated !== undefined) {
    return {
      outcome: "unchanged",
      why: { code: "repeated", position: repeated.position },
    };
  }
  return {
    outcome: "unchanged",
    why: against ??
      { code: status.trust === "confirmed" ? "read_before" : "claimed_before" },
  };
}

/** Why a claim is not the status of the order; null when it is. */
function ruleAgainst(
  after: OrderFold,
  fact: WebhookFact,
  { status, trust }: DecidedStatus,
): OutcomeReason | null {
  const claim = after.claims.find(({ status }) => status === fact.claim);
  if (claim === undefined || claim.status === status) return null;
  const claimed = claim.status;
  switch (claimStanding(after, claim)) {
    case "shown":
      return { code: "claim_used_up", claimed, read: status };
    case "contradicted":
      return { code: "claim_contradicted", claimed };
    case "counts":
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
      outcome: "unchanged",
      why: { code: "reading_without_status" },
    };
  }
  if (after.latest !== fact.reading && after.latest === before.latest) {
    return {
      outcome: "unchanged",
      why: {
        code: "later_state_known",
        changedAt: after.latest?.changedAt || null,
      },
    };
  }
  return {
    outcome: "unchanged",
    why: { code: "reading_unchanged" },
  };
}

import type { ExplainedEvent, FieldChange } from "./explanation.ts";
import type {
  Fact,
  OrderSnapshotFact,
  SessionFact,
  WebhookFact,
} from "./fact.ts";
import type { OrderFold } from "./order_fold.ts";
import { isFinal, isKnown, orderRank } from "./order_rank.ts";
import {
  claimStanding,
  type DecidedStatus,
  decideOrderStatus,
} from "./order_status.ts";
import { beganBy, ownSession } from "./sessions.ts";
import { compareTimes } from "./time.ts";

type Verdict = Pick<ExplainedEvent, "outcome" | "why">;

/** What became of an event, and why, in one sentence. */
export function judge(
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
      return judgeWebhook(after, fact, changes, repeated);
    case "order_snapshot":
      return judgeSnapshot(before, after, fact);
    case "order_absent":
      return {
        outcome: "refused",
        why: "A reading at least as late shows the order",
      };
    case "order_contradicted":
      return {
        outcome: "unchanged",
        why:
          "No claim stands that it could speak against, or one was received since",
      };
    case "session_created":
      return { outcome: "unchanged", why: sessionWhy(after, fact) };
    case "unreadable":
      return { outcome: "unchanged", why: fact.reason };
    default:
      return { outcome: "unchanged", why: "It does not concern the order" };
  }
}

function sessionWhy(order: OrderFold, { asked }: SessionFact): string {
  if (order.sessions.includes(asked.sessionId)) {
    return "The session is known already";
  }
  if (order.sessions.length > 0) {
    return "The order belongs to another session of the same click id";
  }
  const own = ownSession(order);
  if (own?.sessionId === asked.sessionId) return "The session is known already";
  const began = beganBy(order);
  if (began !== null && compareTimes(asked.recordedAt, began) > 0) {
    return "The session was made after the order";
  }
  return own === null
    ? "So many sessions share the click id that it does not tell the order's"
    : "The order belongs to a later session of the same click id";
}

function changedWhy(fact: Fact): string {
  switch (fact.kind) {
    case "order_snapshot":
      return "A reading of the service is its own word";
    case "order_absent":
      return "The service was asked and does not show the order";
    case "order_contradicted":
      return "A claim that the service did not agree with no longer counts";
    case "session_created":
      return "The partner's own session says what was asked for";
    case "unreadable":
      return `Somebody names the order: ${fact.reason}`;
    default:
      return "It names the order";
  }
}

function judgeWebhook(
  after: OrderFold,
  fact: WebhookFact,
  changes: readonly FieldChange[],
  repeated: Fact | undefined,
): Verdict {
  const status = decideOrderStatus(after);
  const refusal = refusalOf(after, fact, status);
  if (changes.length > 0) {
    return {
      outcome: "changed",
      why: refusal ??
        (status.trust === "claimed"
          ? "A webhook's claim is taken until the service is read"
          : `The service shows ${status.status} itself: the webhook only adds to what was heard`),
    };
  }
  if (repeated !== undefined) {
    return {
      outcome: "unchanged",
      why:
        `The same bytes were received before, at position ${repeated.position}`,
    };
  }
  return refusal !== null ? { outcome: "refused", why: refusal } : {
    outcome: "unchanged",
    why: status.trust === "confirmed"
      ? "The service has shown as much already"
      : "Another webhook claims as much already",
  };
}

/** Why a claim is not the status of the order; null when it is. */
function refusalOf(
  after: OrderFold,
  fact: WebhookFact,
  { status, trust }: DecidedStatus,
): string | null {
  const claim = after.claims.find(({ status }) => status === fact.claim);
  if (claim === undefined || claim.status === status) return null;
  switch (claimStanding(after, claim)) {
    case "shown":
      return `The service showed ${claim.status} before and shows ${status} now: a late or repeated webhook takes nothing back`;
    case "contradicted":
      return `The service was asked and did not agree with ${claim.status}`;
    case "counts":
      if (trust === "claimed") {
        return `A claim of ${status} ranks above ${claim.status}`;
      }
      return isFinal(status)
        ? `The service shows ${status}, which is final: only a later reading changes it`
        : !isKnown(status)
        ? `The service shows ${status}, which this version does not know: a webhook does not change it`
        : `The service shows ${status}, which ranks ${
          orderRank(status) > orderRank(claim.status) ? "above" : "like"
        } ${claim.status}`;
  }
}

function judgeSnapshot(
  before: OrderFold,
  after: OrderFold,
  fact: OrderSnapshotFact,
): Verdict {
  if (after.latest !== fact.reading && after.latest === before.latest) {
    const latest = after.latest;
    return {
      outcome: "refused",
      why: `A later state of the service is known, changed ${
        latest?.changedAt || "at an unknown time"
      }`,
    };
  }
  return {
    outcome: "unchanged",
    why: "The service shows what it showed before",
  };
}

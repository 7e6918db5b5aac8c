import {
  type ActivityFold,
  evolveActivity,
  noActivity,
} from "./activity_fold.ts";
import {
  addClaim,
  addContradiction,
  type Claim,
  type Contradiction,
} from "./claims.ts";
import type {
  Fact,
  OrderReading,
  OrderSnapshotFact,
  SessionAsked,
  SessionFact,
  WebhookFact,
} from "./fact.ts";
import { type DecidedStatus, decideOrderStatus } from "./order_status.ts";
import { addShown, isLater, type Shown } from "./readings.ts";
import { addAsked, addSession, keepAsked } from "./sessions.ts";
import { earlierTime, laterTime } from "./time.ts";

/**
 * Everything the ledger keeps of an order: plain JSON, of bounded size.
 *
 * Each field is a join-semilattice (a maximum, a minimum, or a bounded set by
 * a total order), so that facts can be added in any order, any number of
 * times, in any batches; only `activity` counts, and relies on each event
 * being folded once.
 */
export interface OrderFold {
  /** Order identifier. */
  readonly orderId: string;
  /** A: the latest reading by (`changed_at`, rank, `read_at`, digest). */
  readonly latest: OrderReading | null;
  /** Every status readings showed, by rank. */
  readonly shown: readonly Shown[];
  /** Every status webhooks claimed, by rank. */
  readonly claims: readonly Claim[];
  /** Whether a webhook said that the transfer has begun. */
  readonly transferSeen: boolean;
  /** The latest contradiction of each status, by rank. */
  readonly contradicted: readonly Contradiction[];
  /** `read_at` of the last reading that showed the order. */
  readonly seenAt: string | null;
  /** `read_at` of the last reading that did not. */
  readonly absentAt: string | null;
  /** Widget sessions that webhooks name, sorted; the lowest are kept. */
  readonly sessions: readonly string[];
  /** The earliest `created_at` of its readings; null when none states one. */
  readonly createdAt: string | null;
  /** Sessions of the partner linked to the order, earliest first. */
  readonly asked: readonly SessionAsked[];
  /** What was received, and when. Not part of the state. */
  readonly activity: ActivityFold;
}

/**
 * An order of which nothing is known yet.
 *
 * @param orderId Order identifier.
 * @returns The fold of no facts.
 *
 * @example Begin an order
 * ```ts
 * import { initialOrderFold } from "@rampkit/onramp/ledger";
 * import assert from "node:assert/strict";
 *
 * assert.equal(initialOrderFold("01ORDER").latest, null);
 * ```
 */
export function initialOrderFold(orderId: string): OrderFold {
  return {
    orderId,
    latest: null,
    shown: [],
    claims: [],
    transferSeen: false,
    contradicted: [],
    seenAt: null,
    absentAt: null,
    sessions: [],
    createdAt: null,
    asked: [],
    activity: noActivity,
  };
}

/**
 * Adds a fact to what is known of an order. Pure; the cost does not depend on
 * how many facts were added before.
 *
 * @param fold What is known so far; not changed.
 * @param fact A fact that {@linkcode routes} to the order, or a session linked
 * to it by session id or click id. Any other changes nothing. A session that
 * cannot be the order's own is let go: one that the order comes to name later
 * has to be added again then.
 * @returns What is known with the fact.
 *
 * @example Add a webhook
 * ```ts
 * import {
 *   evolveOrder,
 *   initialOrderFold,
 *   orderStatus,
 *   readFact,
 * } from "@rampkit/onramp/ledger";
 * import assert from "node:assert/strict";
 *
 * const fact = readFact({
 *   position: 1,
 *   eventId: "01HX",
 *   kind: "webhook",
 *   type: "order_complete",
 *   orderId: "01ORDER",
 *   userId: null,
 *   clickId: null,
 *   occurredAt: null,
 *   recordedAt: "2026-11-20T09:00:00.000Z",
 *   readAt: null,
 *   body: null, // erased: the columns still say what was claimed
 *   digest: null,
 *   salt: null,
 * });
 * const fold = evolveOrder(initialOrderFold("01ORDER"), fact);
 * assert.equal(orderStatus(fold).status, "success");
 * ```
 */
export function evolveOrder(fold: OrderFold, fact: Fact): OrderFold {
  if (fact.kind === "session_created") {
    const asked = addAsked(fold, fact.asked);
    return asked === fold.asked ? fold : { ...fold, asked };
  }
  if (fact.orderId !== fold.orderId) return fold;
  const next = add(fold, fact);
  if (next.asked.length === 0) return next;
  const asked = keepAsked(next);
  return asked === next.asked ? next : { ...next, asked };
}

function add(
  fold: OrderFold,
  fact: Exclude<Fact, SessionFact>,
): OrderFold {
  const activity = evolveActivity(fold.activity, fact);
  switch (fact.kind) {
    case "webhook":
      return addWebhook(fold, fact, activity);
    case "order_snapshot":
      return addSnapshot(fold, fact, activity);
    case "order_absent":
      return {
        ...fold,
        absentAt: laterTime(fold.absentAt, fact.readAt),
        activity,
      };
    case "order_contradicted":
      return {
        ...fold,
        contradicted: addContradiction(
          fold.contradicted,
          fact.status,
          fact.upTo,
        ),
        activity,
      };
    case "unreadable":
      return { ...fold, activity };
    case "user_snapshot":
    case "delivery_unanswered":
      return fold;
    default:
      return fact satisfies never;
  }
}

/**
 * The status of an order, without the rest of its state.
 *
 * @param fold What is known of the order.
 * @returns Status and trust.
 *
 * @example An order of which nothing is known
 * ```ts
 * import { initialOrderFold, orderStatus } from "@rampkit/onramp/ledger";
 * import assert from "node:assert/strict";
 *
 * assert.equal(orderStatus(initialOrderFold("01ORDER")).status, "created");
 * ```
 */
export function orderStatus(fold: OrderFold): DecidedStatus {
  return decideOrderStatus(fold);
}

function addWebhook(
  fold: OrderFold,
  fact: WebhookFact,
  activity: ActivityFold,
): OrderFold {
  return {
    orderId: fold.orderId,
    latest: fold.latest,
    shown: fold.shown,
    claims: fact.claim === null
      ? fold.claims
      : addClaim(fold.claims, fact.claim, fact.recordedAt, fact.body),
    transferSeen: fold.transferSeen || fact.label === "transfer_started",
    contradicted: fold.contradicted,
    seenAt: fold.seenAt,
    absentAt: fold.absentAt,
    sessions: fact.sessionId === null
      ? fold.sessions
      : addSession(fold.sessions, fact.sessionId),
    createdAt: fold.createdAt,
    asked: fold.asked,
    activity,
  };
}

function addSnapshot(
  fold: OrderFold,
  fact: OrderSnapshotFact,
  activity: ActivityFold,
): OrderFold {
  const { reading } = fact;
  return {
    orderId: fold.orderId,
    latest: fold.latest === null || isLater(reading, fold.latest)
      ? reading
      : fold.latest,
    shown: addShown(fold.shown, reading),
    claims: fold.claims,
    transferSeen: fold.transferSeen,
    contradicted: fold.contradicted,
    seenAt: laterTime(fold.seenAt, reading.readAt),
    absentAt: fold.absentAt,
    sessions: fold.sessions,
    createdAt: reading.createdAt === ""
      ? fold.createdAt
      : earlierTime(fold.createdAt, reading.createdAt),
    asked: fold.asked,
    activity,
  };
}

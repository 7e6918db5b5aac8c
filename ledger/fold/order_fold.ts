import {
  type ActivityFold,
  evolveActivity,
  noActivity,
} from "./activity_fold.ts";
import type {
  ClaimBody,
  ClaimedStatus,
  Fact,
  OrderReading,
  OrderSnapshotFact,
  SessionAsked,
  WebhookFact,
} from "./fact.ts";
import { isKnown, orderRank } from "./order_rank.ts";
import type { Status } from "./order_state.ts";
import { decideOrderStatus, type OrderStatus } from "./order_status.ts";
import { compareTimes, earlierTime, laterTime } from "./time.ts";

/** Differing bodies that are kept of one claimed status. */
export const CLAIM_BODIES_KEPT = 4;

/** Sessions an order was seen in, and sessions linked to it, that are kept. */
export const SESSIONS_KEPT = 16;

/** Unknown statuses of readings that are kept. */
export const UNKNOWN_STATUSES_KEPT = 10;

/** A status that webhooks claimed. */
export interface Claim {
  /** The claimed status. */
  readonly status: ClaimedStatus;
  /** `recordedAt` of the last webhook that claimed it. */
  readonly lastAt: string;
  /**
   * What those webhooks say, each different saying once, highest digest first.
   * Beyond {@linkcode CLAIM_BODIES_KEPT} the lowest digests are let go: those
   * kept already cannot all agree with one reading.
   */
  readonly bodies: readonly ClaimBody[];
}

/** A status that readings showed. */
export interface Shown {
  /** The status. */
  readonly status: Status;
  /** Earliest `changed_at` it was shown with; empty when none was stated. */
  readonly first: string;
  /** Latest `changed_at` it was shown with; empty when none was stated. */
  readonly last: string;
}

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
  readonly contradicted: readonly {
    /** The claimed status. */
    readonly status: Status;
    /** Claims received until then are contradicted. */
    readonly upTo: string;
  }[];
  /** `read_at` of the last reading that showed the order. */
  readonly seenAt: string | null;
  /** `read_at` of the last reading that did not. */
  readonly absentAt: string | null;
  /** Widget sessions that webhooks name, sorted; the lowest are kept. */
  readonly sessions: readonly string[];
  /** Sessions of the partner linked to the order, latest first. */
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
 * to it by session id or click id. Any other changes nothing.
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
    const asked = addAsked(fold.asked, fact.asked);
    return asked === fold.asked ? fold : { ...fold, asked };
  }
  if (fact.orderId !== fold.orderId) return fold;
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
export function orderStatus(fold: OrderFold): OrderStatus {
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
    asked: fold.asked,
    activity,
  };
}

/**
 * Whether `a` comes after `b` in the service's history. Between two readings
 * that state no time of change, the later reading is the later state.
 */
function isLater(a: OrderReading, b: OrderReading): boolean {
  const changed = compareTimes(a.changedAt, b.changedAt);
  if (changed !== 0) return changed > 0;
  const rank = orderRank(a.status) - orderRank(b.status);
  const read = compareTimes(a.readAt, b.readAt);
  if (a.changedAt === "") {
    if (read !== 0) return read > 0;
    if (rank !== 0) return rank > 0;
  } else {
    if (rank !== 0) return rank > 0;
    if (read !== 0) return read > 0;
  }
  return a.digest > b.digest;
}

function addShown(
  shown: readonly Shown[],
  { status, changedAt }: OrderReading,
): readonly Shown[] {
  const rank = orderRank(status);
  let at = 0;
  for (const entry of shown) {
    if (entry.status === status) {
      const first = changedAt === ""
        ? entry.first
        : earlierTime(entry.first === "" ? null : entry.first, changedAt);
      const last = laterTime(entry.last, changedAt);
      return first === entry.first && last === entry.last
        ? shown
        : shown.with(at, { status, first, last });
    }
    const other = orderRank(entry.status);
    if (other > rank || (other === rank && entry.status > status)) break;
    at++;
  }
  const next = shown.toSpliced(at, 0, {
    status,
    first: changedAt,
    last: changedAt,
  });
  const unknown = next.findIndex((entry) => !isKnown(entry.status));
  return unknown === -1 ? next : next.slice(0, unknown + UNKNOWN_STATUSES_KEPT);
}

function addClaim(
  claims: readonly Claim[],
  status: ClaimedStatus,
  recordedAt: string,
  body: ClaimBody | null,
): readonly Claim[] {
  const rank = orderRank(status);
  let at = 0;
  for (const claim of claims) {
    if (claim.status === status) {
      const bodies = body === null ? claim.bodies : addBody(claim.bodies, body);
      const lastAt = laterTime(claim.lastAt, recordedAt);
      return bodies === claim.bodies && lastAt === claim.lastAt
        ? claims
        : claims.with(at, { status, lastAt, bodies });
    }
    if (orderRank(claim.status) > rank) break;
    at++;
  }
  return claims.toSpliced(at, 0, {
    status,
    lastAt: recordedAt,
    bodies: body === null ? [] : [body],
  });
}

/**
 * Keeps each different saying once, under its highest digest, and of those the
 * highest {@linkcode CLAIM_BODIES_KEPT}. A saying let go and met again with a
 * higher digest comes back, so the order of arrival leaves no trace.
 */
function addBody(
  bodies: readonly ClaimBody[],
  body: ClaimBody,
): readonly ClaimBody[] {
  const same = bodies.findIndex((other) => saysTheSame(other, body));
  const known = bodies[same];
  if (known !== undefined && known.digest >= body.digest) return bodies;
  const rest = known === undefined ? bodies : bodies.toSpliced(same, 1);
  let at = 0;
  for (const other of rest) {
    if (other.digest < body.digest) break;
    at++;
  }
  return at >= CLAIM_BODIES_KEPT
    ? bodies
    : rest.toSpliced(at, 0, body).slice(0, CLAIM_BODIES_KEPT);
}

function saysTheSame(a: ClaimBody, b: ClaimBody): boolean {
  return a.digest === b.digest || (
    a.currencyAmount === b.currencyAmount &&
    a.cryptoAmount === b.cryptoAmount &&
    a.txId === b.txId &&
    a.address === b.address &&
    a.currency === b.currency &&
    a.commodity === b.commodity &&
    a.userId === b.userId &&
    a.clickId === b.clickId &&
    a.externalOrderId === b.externalOrderId &&
    a.failReason === b.failReason &&
    a.scAddress === b.scAddress &&
    a.scInputData === b.scInputData
  );
}

function addContradiction(
  contradicted: OrderFold["contradicted"],
  status: Status,
  upTo: string,
): OrderFold["contradicted"] {
  const rank = orderRank(status);
  // Webhooks claim documented statuses only, so no other can be contradicted.
  if (!isKnown(status)) return contradicted;
  let at = 0;
  for (const entry of contradicted) {
    if (entry.status === status) {
      return compareTimes(upTo, entry.upTo) > 0
        ? contradicted.with(at, { status, upTo })
        : contradicted;
    }
    if (orderRank(entry.status) > rank) break;
    at++;
  }
  return contradicted.toSpliced(at, 0, { status, upTo });
}

function addSession(
  sessions: readonly string[],
  id: string,
): readonly string[] {
  let at = 0;
  for (const session of sessions) {
    if (session === id) return sessions;
    if (session > id) break;
    at++;
  }
  return at >= SESSIONS_KEPT
    ? sessions
    : sessions.toSpliced(at, 0, id).slice(0, SESSIONS_KEPT);
}

/** Keeps the latest sessions by (recordedAt, id, content), each saying once. */
function addAsked(
  all: readonly SessionAsked[],
  asked: SessionAsked,
): readonly SessionAsked[] {
  const content = JSON.stringify(asked);
  let at = 0;
  for (const other of all) {
    if (
      other.recordedAt < asked.recordedAt ||
      (other.recordedAt === asked.recordedAt &&
        other.sessionId < asked.sessionId)
    ) break;
    if (
      other.recordedAt === asked.recordedAt &&
      other.sessionId === asked.sessionId
    ) {
      const text = JSON.stringify(other);
      if (text === content) return all;
      if (text < content) break;
    }
    at++;
  }
  return at >= SESSIONS_KEPT
    ? all
    : all.toSpliced(at, 0, asked).slice(0, SESSIONS_KEPT);
}

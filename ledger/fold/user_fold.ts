import {
  evolveUserActivity,
  noUserActivity,
  type UserActivityFold,
} from "./activity_fold.ts";
import type { Fact, UserReading } from "./fact.ts";
import { compareTimes, laterTime } from "./time.ts";
import { decideVerification } from "./user_status.ts";
import type { UserStatus } from "./user_status.ts";
import { isKnownVerification, verificationRank } from "./verification_rank.ts";

/** Reject reasons that are kept of a user. */
export const REJECT_REASONS_KEPT = 32;

/** Unknown verification states of webhooks that are kept, of each kind. */
export const UNKNOWN_STATES_KEPT = 10;

/** A verification state that webhooks stated. */
export interface StatedVerification {
  /** The state. */
  readonly state: string;
  /** `recordedAt` of the last webhook that stated it. */
  readonly lastAt: string;
}

/**
 * Everything the ledger keeps of a user: plain JSON, of bounded size, lawful
 * like {@linkcode OrderFold}.
 */
export interface UserFold {
  /** User identifier. */
  readonly userId: string;
  /** The latest reading by (`read_at`, digest). */
  readonly latest: UserReading | null;
  /** States of the light verification that webhooks stated, by rank. */
  readonly lkyc: readonly StatedVerification[];
  /** States of the document verification that webhooks stated, by rank. */
  readonly fkyc: readonly StatedVerification[];
  /** Reject reasons that webhooks stated, sorted; the lowest are kept. */
  readonly rejects: readonly string[];
  /** What was received, and when. Not part of the state. */
  readonly activity: UserActivityFold;
}

/**
 * A user of whom nothing is known yet.
 *
 * @param userId User identifier.
 * @returns The fold of no facts.
 *
 * @example Begin a user
 * ```ts
 * import { initialUserFold } from "@rampkit/onramp/ledger";
 * import assert from "node:assert/strict";
 *
 * assert.equal(initialUserFold("01USER").latest, null);
 * ```
 */
export function initialUserFold(userId: string): UserFold {
  return {
    userId,
    latest: null,
    lkyc: [],
    fkyc: [],
    rejects: [],
    activity: noUserActivity,
  };
}

/**
 * Adds a fact to what is known of a user. Pure; the cost does not depend on
 * how many facts were added before.
 *
 * @param fold What is known so far; not changed.
 * @param fact A fact that {@linkcode routes} to the user. Any other changes
 * nothing.
 * @returns What is known with the fact.
 *
 * @example Count a login
 * ```ts
 * import { evolveUser, initialUserFold, readFact } from "@rampkit/onramp/ledger";
 * import assert from "node:assert/strict";
 *
 * const fact = readFact({
 *   position: 1,
 *   eventId: "01HX",
 *   kind: "webhook",
 *   type: "login",
 *   orderId: null,
 *   userId: "01USER",
 *   clickId: null,
 *   occurredAt: null,
 *   recordedAt: "2026-11-20T09:00:00.000Z",
 *   readAt: null,
 *   body: null, // erased: the columns still say what was claimed
 *   digest: null,
 *   salt: null,
 * });
 * const fold = evolveUser(initialUserFold("01USER"), fact);
 * assert.equal(fold.activity.lastLoginAt, "2026-11-20T09:00:00.000Z");
 * ```
 */
export function evolveUser(fold: UserFold, fact: Fact): UserFold {
  if (fact.userId !== fold.userId) return fold;
  const activity = evolveUserActivity(fold.activity, fact);
  let { latest, lkyc, fkyc, rejects } = fold;
  if (fact.kind === "webhook") {
    if (fact.lkyc !== null) lkyc = addState(lkyc, fact.lkyc, fact.recordedAt);
    if (fact.fkyc !== null) fkyc = addState(fkyc, fact.fkyc, fact.recordedAt);
    if (fact.rejectType !== null) rejects = addReject(rejects, fact.rejectType);
  } else if (fact.kind === "user_snapshot") {
    if (latest === null || isLater(fact.reading, latest)) {
      latest = fact.reading;
    }
  }
  return { userId: fold.userId, latest, lkyc, fkyc, rejects, activity };
}

/**
 * The status of a user, without the rest of the state.
 *
 * @param fold What is known of the user.
 * @returns Both verifications, the better of them, and the trust.
 *
 * @example A user of whom nothing is known
 * ```ts
 * import { initialUserFold, userStatus } from "@rampkit/onramp/ledger";
 * import assert from "node:assert/strict";
 *
 * assert.equal(userStatus(initialUserFold("01USER")).trust, "claimed");
 * ```
 */
export function userStatus(fold: UserFold): UserStatus {
  return decideVerification(fold);
}

function isLater(a: UserReading, b: UserReading): boolean {
  const read = compareTimes(a.readAt, b.readAt);
  return read !== 0 ? read > 0 : a.digest > b.digest;
}

function addState(
  states: readonly StatedVerification[],
  state: string,
  recordedAt: string,
): readonly StatedVerification[] {
  const rank = verificationRank(state);
  let at = 0;
  for (const entry of states) {
    if (entry.state === state) {
      const lastAt = laterTime(entry.lastAt, recordedAt);
      return lastAt === entry.lastAt
        ? states
        : states.with(at, { state, lastAt });
    }
    const other = verificationRank(entry.state);
    if (other > rank || (other === rank && entry.state > state)) break;
    at++;
  }
  const next = states.toSpliced(at, 0, { state, lastAt: recordedAt });
  const unknown = next.findIndex((entry) => !isKnownVerification(entry.state));
  return unknown === -1 ? next : next.slice(0, unknown + UNKNOWN_STATES_KEPT);
}

function addReject(
  rejects: readonly string[],
  reason: string,
): readonly string[] {
  if (rejects.includes(reason)) return rejects;
  const at = rejects.findIndex((other) => other > reason);
  return rejects.toSpliced(at === -1 ? rejects.length : at, 0, reason)
    .slice(0, REJECT_REASONS_KEPT);
}

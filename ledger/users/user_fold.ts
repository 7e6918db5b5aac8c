import {
  evolveUserActivity,
  noActivity,
  type UserActivityFold,
} from "../orders/activity_fold.ts";
import type { VerificationState } from "../../core/webhook_event/webhook_event.ts";
import type { Fact } from "../events/fact.ts";
import type { UserReading } from "../events/user_reading.ts";
import {
  addSorted,
  boundUnknown,
  compareText,
  type ListRule,
} from "../machines/sorted_list.ts";
import { compareTimes } from "../events/time.ts";
import {
  isKnownVerification,
  verificationRank,
} from "../machines/user_machines.ts";

/** Reject reasons that are kept of a user. */
const REJECT_REASONS_KEPT = 32;

/** Unknown verification states that are kept, of each kind and source. */
const UNKNOWN_STATES_KEPT = 10;

/** A verification state that webhooks stated. */
export interface StatedVerification {
  readonly state: VerificationState;
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
  /** States of the light verification that readings showed, by rank. */
  readonly observedLkyc: readonly VerificationState[];
  /** States of the document verification that readings showed, by rank. */
  readonly observedFkyc: readonly VerificationState[];
  /** Reject reasons that webhooks stated, sorted; the lowest are kept. */
  readonly rejects: readonly string[];
  /** What was received, and when. Not part of the state. */
  readonly activity: UserActivityFold;
}

/** A user of whom nothing is known yet. */
export function initialUserFold(userId: string): UserFold {
  return {
    userId,
    latest: null,
    lkyc: [],
    fkyc: [],
    observedLkyc: [],
    observedFkyc: [],
    rejects: [],
    activity: { ...noActivity, lastLoginAt: null, otp: [] },
  };
}

/**
 * Adds a fact to the fold of a user. Pure; the cost does not depend on how many
 * facts were added before.
 */
export function evolveUser(fold: UserFold, fact: Fact): UserFold {
  if (fact.userId !== fold.userId) return fold;
  const activity = evolveUserActivity(fold.activity, fact);
  let { latest, lkyc, fkyc, observedLkyc, observedFkyc, rejects } = fold;
  if (fact.kind === "webhook") {
    if (fact.lkyc !== null) lkyc = addState(lkyc, fact.lkyc, fact.recordedAt);
    if (fact.fkyc !== null) fkyc = addState(fkyc, fact.fkyc, fact.recordedAt);
    if (fact.rejectType !== null) {
      rejects = addSorted(rejects, fact.rejectType, { compare: compareText })
        .slice(0, REJECT_REASONS_KEPT);
    }
  } else if (fact.kind === "user_snapshot") {
    const { reading } = fact;
    if (latest === null || isReadLater(reading, latest)) latest = reading;
    observedLkyc = addObserved(observedLkyc, reading.lkyc);
    observedFkyc = addObserved(observedFkyc, reading.fkyc);
  }
  return {
    userId: fold.userId,
    latest,
    lkyc,
    fkyc,
    observedLkyc,
    observedFkyc,
    rejects,
    activity,
  };
}

/** Whether `a` was read after `b`; the digest decides within one moment. */
function isReadLater(a: UserReading, b: UserReading): boolean {
  const read = compareTimes(a.readAt, b.readAt);
  return read !== 0 ? read > 0 : a.digest > b.digest;
}

function addObserved(
  shown: readonly VerificationState[],
  state: VerificationState | null,
): readonly VerificationState[] {
  return state === null ? shown : boundUnknown(
    addSorted(shown, state, { compare: compareStates }),
    isKnownVerification,
    UNKNOWN_STATES_KEPT,
  );
}

const compareStates = (a: VerificationState, b: VerificationState): number =>
  verificationRank(a) - verificationRank(b) || compareText(a, b);

function addState(
  states: readonly StatedVerification[],
  state: string,
  recordedAt: string,
): readonly StatedVerification[] {
  return boundUnknown(
    addSorted(states, { state, lastAt: recordedAt }, verificationRule),
    (entry) => isKnownVerification(entry.state),
    UNKNOWN_STATES_KEPT,
  );
}

const verificationRule: ListRule<StatedVerification> = {
  compare: (a, b) => compareStates(a.state, b.state),
  merge: (known, added) =>
    compareTimes(added.lastAt, known.lastAt) > 0 ? added : known,
};

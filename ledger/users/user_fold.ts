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
} from "../machines/sorted_list.ts";
import { compareTimes } from "../events/time.ts";
import {
  isKnownVerification,
  verificationRank,
} from "../machines/user_machines.ts";

const REJECT_REASONS_KEPT = 32;

/** Unknown verification states that are kept, of each kind and source. */
const UNKNOWN_STATES_KEPT = 10;

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
  readonly userId: string;
  /** The latest reading by (`read_at`, digest). */
  readonly latest: UserReading | null;
  /** Of the light and the document verification what webhooks stated, by rank. */
  readonly lkyc: readonly StatedVerification[];
  readonly fkyc: readonly StatedVerification[];
  /** Of the same what readings showed, by rank. */
  readonly observedLkyc: readonly VerificationState[];
  readonly observedFkyc: readonly VerificationState[];
  /** Reject reasons that webhooks stated, sorted; the lowest are kept. */
  readonly rejects: readonly string[];
  /** What was received, and when. Not part of the state. */
  readonly activity: UserActivityFold;
}

export function initialUserFold(userId: string): UserFold {
  return {
    ...{ userId, latest: null, lkyc: [], fkyc: [] },
    ...{ observedLkyc: [], observedFkyc: [], rejects: [] },
    activity: { ...noActivity, lastLoginAt: null, otp: [] },
  };
}

/**
 * Adds a fact to the fold of a user. Pure; the cost does not depend on how many
 * facts were added before.
 */
export function evolveUser(fold: UserFold, fact: Fact): UserFold {
  if (fact.userId !== fold.userId) return fold;
  const { latest, rejects } = fold;
  const activity = evolveUserActivity(fold.activity, fact);
  if (fact.kind === "webhook") {
    const { lkyc, fkyc, rejectType, recordedAt } = fact;
    return {
      ...fold,
      lkyc: addStated(fold.lkyc, lkyc, recordedAt),
      fkyc: addStated(fold.fkyc, fkyc, recordedAt),
      rejects: rejectType === null
        ? rejects
        : addSorted(rejects, rejectType, { compare: compareText })
          .slice(0, REJECT_REASONS_KEPT),
      activity,
    };
  }
  if (fact.kind !== "user_snapshot") return { ...fold, activity };
  const { reading } = fact;
  const isOlder = latest !== null &&
    (compareTimes(reading.readAt, latest.readAt) ||
        compareText(reading.digest, latest.digest)) <= 0;
  return {
    ...fold,
    latest: isOlder ? latest : reading,
    observedLkyc: addObserved(fold.observedLkyc, reading.lkyc),
    observedFkyc: addObserved(fold.observedFkyc, reading.fkyc),
    activity,
  };
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

function addStated(
  stated: readonly StatedVerification[],
  state: string | null,
  lastAt: string,
): readonly StatedVerification[] {
  return state === null ? stated : boundUnknown(
    addSorted(stated, { state, lastAt }, {
      compare: (a, b) => compareStates(a.state, b.state),
      merge: (known, added) =>
        compareTimes(added.lastAt, known.lastAt) > 0 ? added : known,
    }),
    (one) => isKnownVerification(one.state),
    UNKNOWN_STATES_KEPT,
  );
}

function compareStates(a: VerificationState, b: VerificationState): number {
  return verificationRank(a) - verificationRank(b) || compareText(a, b);
}

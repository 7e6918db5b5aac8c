/** Status, state and verdict of a user, by what is known. */
import {
  evolveUserActivity,
  noActivity,
  type UserActivityFold,
} from "../orders/order_fold.ts";
import type { VerificationState } from "../../core/webhook_event/webhook_event.ts";
import type { Fact } from "../events/fact.ts";
import {
  NO_PROFILE,
  profileOf,
  type UserProfile,
  type UserReading,
} from "../events/readings.ts";
import {
  addSorted,
  type BanName,
  boundUnknown,
  compareText,
  fkycMachine,
  isKnownVerification,
  lkycMachine,
  type VerificationMachine,
  type VerificationName,
  verificationRow,
} from "../machines/machine.ts";
import { compareTimes, effectiveTime } from "../events/time.ts";
import {
  type Anomaly,
  futureTimes,
  unreadableFields,
  type VerificationReversed,
} from "../anomalies/anomaly.ts";
import type { Trust } from "../machines/transition.ts";

const REJECT_REASONS_KEPT = 32;

/** Unknown verification states that are kept, of each kind and source. */
const UNKNOWN_STATES_KEPT = 10;

interface StatedVerification {
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
    const stated = (kind: VerificationKind) => {
      const state = fact[kind];
      return state === null ? fold[kind] : boundUnknown(
        addSorted(fold[kind], { state, lastAt: fact.recordedAt }, {
          compare: (a, b) => compareStates(a.state, b.state),
          merge: (known, added) =>
            compareTimes(added.lastAt, known.lastAt) > 0 ? added : known,
        }),
        (one) => isKnownVerification(one.state),
        UNKNOWN_STATES_KEPT,
      );
    };
    return {
      ...fold,
      lkyc: stated("lkyc"),
      fkyc: stated("fkyc"),
      rejects: fact.rejectType === null
        ? rejects
        : addSorted(rejects, fact.rejectType, { compare: compareText })
          .slice(0, REJECT_REASONS_KEPT),
      activity,
    };
  }
  if (fact.kind !== "user_snapshot") return { ...fold, activity };
  const { reading } = fact;
  const isOlder = latest !== null &&
    (compareTimes(reading.readAt, latest.readAt) ||
        compareText(reading.digest, latest.digest)) <= 0;
  const shown = (
    known: readonly VerificationState[],
    state: VerificationState | null,
  ) =>
    state === null ? known : boundUnknown(
      addSorted(known, state, { compare: compareStates }),
      isKnownVerification,
      UNKNOWN_STATES_KEPT,
    );
  return {
    ...fold,
    latest: isOlder ? latest : reading,
    observedLkyc: shown(fold.observedLkyc, reading.lkyc),
    observedFkyc: shown(fold.observedFkyc, reading.fkyc),
    activity,
  };
}

function compareStates(a: VerificationState, b: VerificationState): number {
  return verificationRow(a).rank - verificationRow(b).rank || compareText(a, b);
}

type VerificationFacts = Pick<UserFold, "latest" | "lkyc" | "fkyc">;

/** A verification state and how sure it is. */
export interface Verification {
  /** The state; null when none was stated. */
  readonly state: VerificationState | null;
  /** Whether it is confirmed by the service. */
  readonly trust: Trust;
  /**
   * The state that webhooks stated last, where that is later than what `state`
   * comes from and does not rank higher; null without one. It changes no state,
   * and asks for a reading.
   */
  readonly laterClaim: VerificationState | null;
}

/** Status of a user: three machines, and what follows from them together. */
export interface UserStatus extends Pick<UserState, "status" | "trust"> {
  /** Light verification. */
  readonly lkyc: Verification;
  /** Document verification. */
  readonly fkyc: Verification;
  /** The ban, which only readings state; null when none does. */
  readonly ban: BanName | null;
}

function rowOf(state: VerificationState): VerificationName | "unlisted" {
  return isKnownVerification(state) ? state : "unlisted";
}

/**
 * Runs the machine of one verification: A is the latest snapshot's state, and a
 * claim counts that was received after that snapshot.
 */
function decideVerification(
  { latest, ...stated }: VerificationFacts,
  { name, decisions }: VerificationMachine,
): Verification {
  const read = latest && latest[name];
  const ofReading = decisions[read === null ? "none" : rowOf(read)];
  const decision = ({ state }: StatedVerification) =>
    ofReading[state === read ? "none" : rowOf(state)];
  const counting = stated[name].filter(({ lastAt }) =>
    latest === null || compareTimes(lastAt, latest.readAt) > 0
  );
  const ranks = counting.map(({ state }) => verificationRow(state).rank);
  const highest = counting[ranks.indexOf(Math.max(...ranks))];
  if (highest !== undefined && decision(highest) === "claim") {
    const later = counting.filter(({ lastAt }) =>
      compareTimes(lastAt, highest.lastAt) > 0
    );
    const { state } = highest;
    return { state, trust: "claimed", laterClaim: lastStated(later) };
  }
  const doubts = counting.filter((one) => decision(one) === "reading_in_doubt");
  return {
    state: read,
    trust: latest === null ? "claimed" : "confirmed",
    laterClaim: lastStated(doubts),
  };
}

/** The state stated last; of one moment the higher, as they are sorted by rank. */
function lastStated(
  stated: readonly StatedVerification[],
): VerificationState | null {
  const last = stated.toSorted((a, b) => compareTimes(a.lastAt, b.lastAt));
  return last.at(-1)?.state ?? null;
}

export function decideUserStatus(facts: VerificationFacts): UserStatus {
  const lkyc = decideVerification(facts, lkycMachine);
  const fkyc = decideVerification(facts, fkycMachine);
  const banned = facts.latest?.banned ?? null;
  const ban = banned === null ? null : banned ? "banned" : "not_banned";
  const machines = { lkyc, fkyc, ban } as const;
  if (ban === "banned") {
    return { status: "banned", trust: "confirmed", ...machines };
  }
  if (fkyc.state !== null && fkyc.state !== "not initiated") {
    return { status: fkyc.state, trust: fkyc.trust, ...machines };
  }
  return {
    status: lkyc.state ?? fkyc.state ?? "unknown",
    trust: lkyc.trust === "confirmed" ? fkyc.trust : "claimed",
    ...machines,
  };
}

/**
 * What the user must do next, before buying.
 *
 * - `none`: nothing.
 * - `start_verification`, `finish_verification`: the user has not begun, or has
 *   begun and not handed everything in.
 * - `wait`: the service is checking.
 * - `upload_documents`: the service wants documents again.
 * - `see_reject_reasons`: the verification failed; whether another attempt can
 *   help depends on the reasons.
 * - `cannot_buy`: the service has banned the user.
 * - `unknown`: nothing is known, or the state is not documented.
 */
export type NextStep =
  | "none"
  | "start_verification"
  | "finish_verification"
  | "wait"
  | "upload_documents"
  | "see_reject_reasons"
  | "cannot_buy"
  | "unknown";

const NEXT_STEPS: ReadonlyMap<string, NextStep> = new Map([
  ["not initiated", "start_verification"],
  ["initiated", "finish_verification"],
  ["progress", "wait"],
  ["retry", "upload_documents"],
  ["failed", "see_reject_reasons"],
  ["success", "none"],
  ["banned", "cannot_buy"],
]);

export function nextStep(status: string): NextStep {
  return NEXT_STEPS.get(status) ?? "unknown";
}

/** Why the trust in the status of a user is what it is. */
export type UserReason =
  /** The service has not been read, so webhooks are all there is. */
  | { readonly code: "not_read" }
  /** The latest reading stands, because no later webhook claims more. */
  | { readonly code: "reading_stands" }
  /** Webhooks received after the latest reading claim more. */
  | {
    readonly code: "claim_after_reading";
    /** Claimed state of the light verification; null when none is claimed. */
    readonly lkyc: VerificationState | null;
    /** Claimed state of the document verification; null when none is claimed. */
    readonly fkyc: VerificationState | null;
  }
  /** Webhooks received after the latest reading claim less: it stands. */
  | {
    readonly code: "lower_claim_after_reading";
    /** Stated state of the light verification; null when none is. */
    readonly lkyc: VerificationState | null;
    /** Stated state of the document verification; null when none is. */
    readonly fkyc: VerificationState | null;
  };

/**
 * The state of a user by the facts known so far. A pure function of the set of
 * events: it holds no counts, no receipt ids, no positions.
 *
 * Source: service interface, "User (Data API)" and "Events".
 */
export interface UserState extends UserProfile {
  /** User identifier. */
  readonly userId: string;
  /**
   * `banned` where the service says so, else the document verification once it
   * has begun, else the light one, else `unknown`.
   */
  readonly status: VerificationState | "banned" | "unknown";
  /** `confirmed` when all inputs of `status` are confirmed by the service. */
  readonly trust: Trust;
  /** What the user must do next, by `status`. */
  readonly next: NextStep;
  /** The reason for the trust. */
  readonly reason: UserReason;
  /** State of the light (`lkyc`) and the document (`fkyc`) verification. */
  readonly verification: {
    /** State of the light verification; null when none was stated. */
    readonly lkyc: VerificationState | null;
    /** State of the document verification; null when none was stated. */
    readonly fkyc: VerificationState | null;
  };
  /** How sure each verification is. */
  readonly verificationTrust: {
    /** Trust in the light verification. */
    readonly lkyc: Trust;
    /** Trust in the document verification. */
    readonly fkyc: Trust;
  };
  /**
   * States that webhooks stated later than what `verification` comes from, and
   * that do not rank higher. They change no state, and set `needsConfirm`.
   */
  readonly laterClaims: {
    /** Of the light verification; null when there is none. */
    readonly lkyc: VerificationState | null;
    /** Of the document verification; null when there is none. */
    readonly fkyc: VerificationState | null;
  };
  /**
   * Whether the service should be read to confirm what webhooks claim. That
   * reading is to be recorded even if it says nothing new: only its `read_at`
   * settles the claim.
   */
  readonly needsConfirm: boolean;
  /** Every `reject_type` that webhooks sent, sorted. */
  readonly rejectReasons: readonly string[];
  /** What is odd about the latest reading, sorted by kind, then field. */
  readonly anomalies: readonly Anomaly[];
}

export function userState(fold: UserFold): UserState {
  const { latest } = fold;
  const decided = decideUserStatus(fold);
  const { status, trust, ban } = decided;
  // A webhook may state a verification of that name.
  const isOnlyNamed = status === "banned" && ban !== "banned";
  return {
    userId: fold.userId,
    ...{ status, trust, next: isOnlyNamed ? "unknown" : nextStep(status) },
    reason: userReason(latest, decided),
    verification: ofBoth(decided, ({ state }) => state),
    verificationTrust: ofBoth(decided, ({ trust }) => trust),
    laterClaims: ofBoth(decided, ({ laterClaim }) => laterClaim),
    needsConfirm: [decided.lkyc, decided.fkyc].some((one) =>
      one.trust === "claimed" || one.laterClaim !== null
    ),
    ...(latest === null ? NO_PROFILE : profileOf(latest)),
    rejectReasons: fold.rejects,
    anomalies: latest === null ? [] : [
      ...futureTimes({
        createdAt: effectiveTime(latest.createdAt ?? "", latest.readAt).stated,
      }),
      ...unreadableFields([latest]),
      ...reversedVerification(fkycMachine, latest.fkyc, fold.observedFkyc),
      ...reversedVerification(lkycMachine, latest.lkyc, fold.observedLkyc),
    ],
  };
}

function ofBoth<Of>(
  { lkyc, fkyc }: UserStatus,
  of: (one: Verification) => Of,
): Readonly<Record<VerificationKind, Of>> {
  return { lkyc: of(lkyc), fkyc: of(fkyc) };
}

function userReason(
  latest: UserReading | null,
  decided: UserStatus,
): UserReason {
  if (latest === null) return { code: "not_read" };
  const claimed = ofBoth(
    decided,
    ({ state, trust }) => trust === "claimed" ? state : null,
  );
  if (claimed.lkyc !== null || claimed.fkyc !== null) {
    return { code: "claim_after_reading", ...claimed };
  }
  const later = ofBoth(decided, ({ laterClaim }) => laterClaim);
  return later.lkyc !== null || later.fkyc !== null
    ? { code: "lower_claim_after_reading", ...later }
    : { code: "reading_stands" };
}

/**
 * The anomaly of a verification that the service set back, by the moves of its
 * machine. Every state that readings have shown comes before the latest.
 */
function reversedVerification(
  machine: VerificationMachine,
  read: VerificationState | null,
  shown: readonly VerificationState[],
): VerificationReversed[] {
  if (read === null) return [];
  const before = shown.filter((state) =>
    state !== read && machine.moves[rowOf(state)][rowOf(read)].anomaly !== null
  );
  return before.length === 0
    ? []
    : [{ kind: "verification_reversed", field: machine.name, read, before }];
}

/** Which verification: light, or with documents. */
export type VerificationKind = "lkyc" | "fkyc";

/**
 * The most important thing about a user, as a code with its data. `by` is the
 * verification that decides: the one with documents once it has begun.
 */
export type UserVerdict =
  /** Nothing was said of a verification. */
  | { readonly code: "nothing_known" }
  /** The service has banned the user. */
  | { readonly code: "banned" }
  /** A webhook claims the state, and the service has not said it. */
  | {
    readonly code: "not_confirmed";
    readonly by: VerificationKind;
    readonly claimed: VerificationState;
  }
  /** A webhook stated something else since, that does not rank higher. */
  | {
    readonly code: "doubted";
    readonly by: VerificationKind;
    readonly state: VerificationState;
    readonly claimed: VerificationState;
  }
  /** Verified: may buy, within the limits. */
  | { readonly code: "verified"; readonly by: VerificationKind }
  /** The verification failed, for the reasons that webhooks gave. */
  | {
    readonly code: "failed";
    readonly by: VerificationKind;
    readonly rejectReasons: readonly string[];
  }
  /** Documents have to be handed in again. */
  | { readonly code: "retry"; readonly by: VerificationKind }
  /**
   * Begun, or being checked, or a state that this version does not know. The
   * user has to finish it, to wait, or does what this version does not know.
   */
  | {
    readonly code: "under_way";
    readonly by: VerificationKind;
    readonly state: VerificationState;
    readonly next: Extract<
      NextStep,
      "finish_verification" | "wait" | "unknown"
    >;
  }
  /** The user has begun no verification. */
  | { readonly code: "not_begun" };

/** Sums up a user in the one thing that a person has to know first. */
export function userVerdictOf(user: UserState): UserVerdict {
  const { verification, verificationTrust, laterClaims, next } = user;
  if (next === "cannot_buy") return { code: "banned" };
  const { fkyc } = verification;
  const by = fkyc !== null && fkyc !== "not initiated" ? "fkyc" : "lkyc";
  const state = verification[by];
  if (state === null) return { code: "nothing_known" };
  if (verificationTrust[by] === "claimed") {
    return { code: "not_confirmed", by, claimed: state };
  }
  const claimed = laterClaims[by];
  if (claimed !== null) return { code: "doubted", by, state, claimed };
  switch (next) {
    case "none":
      return { code: "verified", by };
    case "see_reject_reasons": {
      const rejectReasons = user.rejectReasons.filter((reason) =>
        reason.toLowerCase().startsWith(`${by}_`)
      );
      return { code: "failed", by, rejectReasons };
    }
    case "upload_documents":
      return { code: "retry", by };
    case "start_verification":
      return { code: "not_begun" };
    default:
      return { code: "under_way", by, state, next };
  }
}

import type { VerificationState } from "../../core/webhook_event/webhook_event.ts";
import type { Anomaly, VerificationReversed } from "../anomalies/anomaly.ts";
import { effectiveTime } from "../events/time.ts";
import {
  NO_PROFILE,
  profileOf,
  type UserProfile,
  type UserReading,
} from "../events/user_reading.ts";
import { futureTimes, unreadableFields } from "../anomalies/order_anomalies.ts";
import {
  fkycMachine,
  lkycMachine,
  type VerificationMachine,
} from "../machines/user_machines.ts";
import type { Trust } from "../machines/transition.ts";
import {
  decideUserStatus,
  type NextStep,
  nextStep,
  rowOf,
  type UserStatus,
  type Verification,
} from "./user_status.ts";
import type { UserFold } from "./user_fold.ts";

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
  readonly status: UserStatus["status"];
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

/** Works out the state of a user from what is known. */
export function userState(fold: UserFold): UserState {
  const { latest } = fold;
  const status = decideUserStatus(fold);
  const { lkyc, fkyc } = status;
  return {
    userId: fold.userId,
    status: status.status,
    trust: status.trust,
    next: nextStep(status.status),
    reason: userReason(latest, status),
    verification: { lkyc: lkyc.state, fkyc: fkyc.state },
    verificationTrust: { lkyc: lkyc.trust, fkyc: fkyc.trust },
    laterClaims: { lkyc: lkyc.laterClaim, fkyc: fkyc.laterClaim },
    needsConfirm: [lkyc, fkyc].some((one) =>
      one.trust === "claimed" || one.laterClaim !== null
    ),
    ...(latest === null ? NO_PROFILE : profileOf(latest)),
    rejectReasons: fold.rejects,
    anomalies: latest === null ? [] : [
      ...futureTimes({ createdAt: futureCreation(latest) }),
      ...unreadableFields([latest]),
      ...reversedVerification(fkycMachine, latest.fkyc, fold.observedFkyc),
      ...reversedVerification(lkycMachine, latest.lkyc, fold.observedLkyc),
    ],
  };
}

/** The creation time, where it lies after the reading that shows it. */
function futureCreation({ createdAt, readAt }: UserReading): string | null {
  return createdAt === null ? null : effectiveTime(createdAt, readAt).stated;
}

function userReason(
  latest: UserReading | null,
  { lkyc, fkyc }: UserStatus,
): UserReason {
  if (latest === null) return { code: "not_read" };
  const claimed = ({ state, trust }: Verification) =>
    trust === "claimed" ? state : null;
  if (lkyc.trust === "claimed" || fkyc.trust === "claimed") {
    return {
      code: "claim_after_reading",
      lkyc: claimed(lkyc),
      fkyc: claimed(fkyc),
    };
  }
  return lkyc.laterClaim !== null || fkyc.laterClaim !== null
    ? {
      code: "lower_claim_after_reading",
      lkyc: lkyc.laterClaim,
      fkyc: fkyc.laterClaim,
    }
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
    state !== read &&
    machine.moves[rowOf(state)][rowOf(read)].anomaly !== null
  );
  return before.length === 0
    ? []
    : [{ kind: "verification_reversed", field: machine.name, read, before }];
}

import type { VerificationState } from "../../core/webhook_event/webhook_event.ts";
import type { Trust } from "../orders/status.ts";
import { compareTimes } from "../events/time.ts";
import { verificationRank } from "./verification_rank.ts";

/** All that the verification of a user depends on. */
export interface VerificationFacts {
  /** The latest snapshot by (`read_at`, digest); null when there is none. */
  readonly latest: {
    /** When it was read. */
    readonly readAt: string;
    /** State of the light verification. */
    readonly lkyc: VerificationState | null;
    /** State of the document verification. */
    readonly fkyc: VerificationState | null;
    /** Whether the service banned the user. */
    readonly banned: boolean | null;
  } | null;
  /** Light verification as webhooks stated it. */
  readonly lkyc: readonly StatedVerification[];
  /** Document verification as webhooks stated it. */
  readonly fkyc: readonly StatedVerification[];
}

/** A verification state that webhooks stated. */
export interface StatedVerification {
  /** The state. */
  readonly state: VerificationState;
  /** `recordedAt` of the last webhook that stated it. */
  readonly lastAt: string;
}

/** A verification state and how sure it is. */
export interface Verification {
  /** The state; null when none was stated. */
  readonly state: VerificationState | null;
  /** Whether it is the service's own word. */
  readonly trust: Trust;
}

/** Status of a user. */
export interface UserStatus {
  /**
   * `banned` where the service says so, else the better of both verifications,
   * else `unknown`.
   */
  readonly status: VerificationState | "banned" | "unknown";
  /**
   * `confirmed` when `status` and all it follows from are the service's own
   * word: a ban, or both verifications.
   */
  readonly trust: Trust;
  /** Light verification. */
  readonly lkyc: Verification;
  /** Document verification. */
  readonly fkyc: Verification;
}

/**
 * The rule of one verification: the latest snapshot's state, confirmed, unless
 * a webhook received after that snapshot ranks higher, which is then claimed.
 *
 * @param facts The user's facts.
 * @param kind Light or document verification.
 * @returns The state and how sure it is.
 */
export function decideOne(
  facts: VerificationFacts,
  kind: "lkyc" | "fkyc",
): Verification {
  const { latest } = facts;
  const read = latest === null ? null : latest[kind];
  let state: VerificationState | null = read;
  let trust: Trust = latest === null ? "claimed" : "confirmed";
  for (const stated of facts[kind]) {
    if (
      latest !== null && compareTimes(stated.lastAt, latest.readAt) <= 0
    ) continue;
    if (
      state === null || verificationRank(stated.state) > verificationRank(state)
    ) {
      state = stated.state;
      trust = "claimed";
    }
  }
  return { state, trust };
}

/**
 * The status of a user.
 *
 * @param facts The user's facts.
 * @returns Both verifications, the better of them, and how sure it is.
 */
export function decideUserStatus(facts: VerificationFacts): UserStatus {
  const lkyc = decideOne(facts, "lkyc");
  const fkyc = decideOne(facts, "fkyc");
  if (facts.latest !== null && facts.latest.banned === true) {
    return { status: "banned", trust: "confirmed", lkyc, fkyc };
  }
  const claimed = lkyc.trust === "claimed" || fkyc.trust === "claimed";
  return {
    status: best(lkyc.state, fkyc.state) ?? "unknown",
    trust: claimed ? "claimed" : "confirmed",
    lkyc,
    fkyc,
  };
}

/** The higher of the two states. */
function best(
  a: VerificationState | null,
  b: VerificationState | null,
): VerificationState | null {
  if (a === null || b === null) return a ?? b;
  const difference = verificationRank(a) - verificationRank(b);
  if (difference !== 0) return difference > 0 ? a : b;
  return a >= b ? a : b;
}

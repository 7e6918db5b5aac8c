import type { VerificationState } from "../../core/webhook_event/webhook_event.ts";
import { compareTimes } from "../events/time.ts";
import type { BanName } from "../machines/user_machines.ts";
import {
  fkycMachine,
  isKnownVerification,
  lkycMachine,
  type VerificationMachine,
  type VerificationName,
  verificationRank,
} from "../machines/user_machines.ts";
import type { Trust } from "../machines/transition.ts";
import type { StatedVerification, UserFold } from "./user_fold.ts";

/** All that the status of a user depends on. */
export type VerificationFacts = Pick<UserFold, "latest" | "lkyc" | "fkyc">;

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
export interface UserStatus {
  /**
   * `banned` where the service says so, else the document verification once it
   * has begun, else the light one, else `unknown`.
   */
  readonly status: VerificationState | "banned" | "unknown";
  /** `confirmed` when all inputs of `status` are confirmed by the service. */
  readonly trust: Trust;
  /** Light verification. */
  readonly lkyc: Verification;
  /** Document verification. */
  readonly fkyc: Verification;
  /** The ban, which only readings state; null when none does. */
  readonly ban: BanName | null;
}

export function rowOf(
  state: VerificationState,
): VerificationName | "unlisted" {
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
  const ranks = counting.map(({ state }) => verificationRank(state));
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

/** The status of a user. */
export function decideUserStatus(facts: VerificationFacts): UserStatus {
  const lkyc = decideVerification(facts, lkycMachine);
  const fkyc = decideVerification(facts, fkycMachine);
  const banned = facts.latest === null ? null : facts.latest.banned;
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

/** What follows for the user from each status. */
const NEXT_STEPS: Readonly<
  Record<VerificationName | "banned" | "unknown", NextStep>
> = {
  unknown: "unknown",
  "not initiated": "start_verification",
  initiated: "finish_verification",
  progress: "wait",
  retry: "upload_documents",
  failed: "see_reject_reasons",
  success: "none",
  banned: "cannot_buy",
};

/** What a user of that status must do next. */
export function nextStep(status: UserStatus["status"]): NextStep {
  return Object.hasOwn(NEXT_STEPS, status)
    ? NEXT_STEPS[status as keyof typeof NEXT_STEPS]
    : "unknown";
}

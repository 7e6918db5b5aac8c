import type { VerificationState } from "../../core/webhook_event/webhook_event.ts";
import { compareTimes } from "../events/time.ts";
import type { BanName } from "../machines/user_machines.ts";
import type { Decision } from "../machines/machine.ts";
import {
  fkycMachine,
  isKnownVerification,
  lkycMachine,
  type VerificationMachine,
  type VerificationName,
  verificationRank,
} from "../machines/user_machines.ts";
import type { Trust } from "../machines/transition.ts";

/** All that the status of a user depends on. */
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
  /** Light verification as webhooks stated it, by rank. */
  readonly lkyc: readonly StatedVerification[];
  /** Document verification as webhooks stated it, by rank. */
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

/** What the table of a machine says of a reading (A) and a claim (W). */
function verificationDecision(
  machine: VerificationMachine,
  read: VerificationState | null,
  claimed: VerificationState | null,
): Decision {
  const row = read === null ? "none" : rowOf(read);
  const column = claimed === null || claimed === read ? "none" : rowOf(claimed);
  return machine.decisions[row][column];
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
  facts: VerificationFacts,
  machine: VerificationMachine,
): Verification {
  const { latest } = facts;
  const read = latest === null ? null : latest[machine.name];
  const counting: StatedVerification[] = [];
  let highest: StatedVerification | null = null;
  for (const stated of facts[machine.name]) {
    if (
      latest !== null && compareTimes(stated.lastAt, latest.readAt) <= 0
    ) continue;
    counting.push(stated);
    if (
      highest === null ||
      verificationRank(stated.state) > verificationRank(highest.state)
    ) highest = stated;
  }
  if (
    highest !== null &&
    verificationDecision(machine, read, highest.state) === "claim"
  ) {
    const { state, lastAt } = highest;
    const laterClaim = lastStated(counting, state, lastAt);
    return { state, trust: "claimed", laterClaim };
  }
  const doubts = counting.filter(({ state }) =>
    verificationDecision(machine, read, state) === "reading_in_doubt"
  );
  return {
    state: read,
    trust: latest === null ? "claimed" : "confirmed",
    laterClaim: lastStated(doubts, read, ""),
  };
}

/** The state stated last, after a time, beside the one that counts. */
function lastStated(
  stated: readonly StatedVerification[],
  counts: VerificationState | null,
  after: string,
): VerificationState | null {
  let last: StatedVerification | null = null;
  for (const one of stated) {
    if (one.state === counts) continue;
    if (after !== "" && compareTimes(one.lastAt, after) <= 0) continue;
    // Of one moment the higher counts: they are sorted by rank.
    if (last === null || compareTimes(one.lastAt, last.lastAt) >= 0) last = one;
  }
  return last === null ? null : last.state;
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

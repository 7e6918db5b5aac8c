import type { WebhookType } from "../../core/webhook_event/event_types.ts";
import {
  type Machine,
  type Move,
  SAME,
  type StateRow,
  USER_OBSERVATIONS,
  USUAL,
} from "./machine.ts";
import type { VerificationState } from "../../core/webhook_event/webhook_event.ts";

/** A documented state of a light or document verification. */
export type VerificationName =
  | "not initiated"
  | "initiated"
  | "progress"
  | "retry"
  | "failed"
  | "success";

/** A state that a webhook can state: also one that is not documented. */
export type VerificationClaim = VerificationName | "unlisted";

/** What a state of a verification means. */
export type VerificationMeaning =
  | "not_begun"
  | "begun"
  | "under_review"
  | "documents_wanted"
  | "not_passed"
  | "passed"
  | "unlisted_state";

/** The kinds of anomaly that a move of a verification raises. */
export type VerificationAnomaly = "verification_reversed";

/** Type of the machines of a verification. */
export interface VerificationMachine
  extends Machine<VerificationName, VerificationClaim, VerificationAnomaly> {
  /** Which of the two verifications it is. */
  readonly name: "lkyc" | "fkyc";
  /** Every event with a user object states both verifications. */
  readonly webhooks:
    & Readonly<Record<Exclude<WebhookType, "otp_status" | "test">, "stated">>
    & Readonly<Record<"otp_status" | "test", null>>;
}

/**
 * A success is taken back, or a verification that had begun is not initiated
 * again.
 */
const reversed: Move<VerificationAnomaly> = {
  kind: "unusual",
  anomaly: "verification_reversed",
};

/** After a failure or a demand for documents the user may begin again. */
const anyButBack = {
  "not initiated": reversed,
  initiated: USUAL,
  progress: USUAL,
  retry: USUAL,
  failed: USUAL,
  success: USUAL,
  unlisted: USUAL,
} as const;

/** A claim received after the reading that ranks no higher: ask again. */
const doubted = {
  none: "reading",
  "not initiated": "reading_in_doubt",
  initiated: "reading_in_doubt",
  progress: "reading_in_doubt",
  retry: "reading_in_doubt",
  failed: "reading_in_doubt",
  success: "reading_in_doubt",
  unlisted: "claim",
} as const;

/**
 * What both verifications have in common.
 *
 * Source: service interface, "Verification state" and "Events". The service
 * does not say which moves there are: those here follow from what each state
 * means.
 */
const verification: Omit<VerificationMachine, "name"> = {
  states: {
    "not initiated": { meaning: "not_begun", rank: 0, final: false },
    initiated: { meaning: "begun", rank: 1, final: false },
    progress: { meaning: "under_review", rank: 2, final: false },
    retry: { meaning: "documents_wanted", rank: 3, final: false },
    failed: { meaning: "not_passed", rank: 4, final: true },
    success: { meaning: "passed", rank: 5, final: true },
  },
  unlisted: { meaning: "unlisted_state", rank: 6, final: false },
  initial: "unknown",
  webhooks: {
    registration: "stated",
    login: "stated",
    logout: "stated",
    card_added: "stated",
    verify_start: "stated",
    verify_retry: "stated",
    verify_failed: "stated",
    verify_success: "stated",
    payment_started: "stated",
    transfer_started: "stated",
    order_complete: "stated",
    order_failed: "stated",
    order_cancelled: "stated",
    otp_status: null,
    test: null,
  },
  observations: USER_OBSERVATIONS,
  decisions: {
    none: {
      none: "initial",
      "not initiated": "claim",
      initiated: "claim",
      progress: "claim",
      retry: "claim",
      failed: "claim",
      success: "claim",
      unlisted: "claim",
    },
    "not initiated": {
      none: "reading",
      "not initiated": "reading",
      initiated: "claim",
      progress: "claim",
      retry: "claim",
      failed: "claim",
      success: "claim",
      unlisted: "claim",
    },
    initiated: {
      none: "reading",
      "not initiated": "reading_in_doubt",
      initiated: "reading",
      progress: "claim",
      retry: "claim",
      failed: "claim",
      success: "claim",
      unlisted: "claim",
    },
    progress: {
      none: "reading",
      "not initiated": "reading_in_doubt",
      initiated: "reading_in_doubt",
      progress: "reading",
      retry: "claim",
      failed: "claim",
      success: "claim",
      unlisted: "claim",
    },
    retry: {
      ...doubted,
      retry: "reading",
      failed: "claim",
      success: "claim",
    },
    failed: { ...doubted, failed: "reading", success: "claim" },
    success: { ...doubted, success: "reading" },
    unlisted: { ...doubted, unlisted: "reading_in_doubt" },
  },
  moves: {
    "not initiated": { ...anyButBack, "not initiated": SAME },
    initiated: { ...anyButBack, initiated: SAME },
    progress: { ...anyButBack, progress: SAME },
    retry: { ...anyButBack, retry: SAME },
    failed: { ...anyButBack, failed: SAME },
    success: {
      "not initiated": reversed,
      initiated: reversed,
      progress: reversed,
      retry: reversed,
      failed: reversed,
      success: SAME,
      unlisted: reversed,
    },
    unlisted: anyButBack,
  },
};

/** The state machine of the light verification: without documents. */
export const lkycMachine: VerificationMachine = {
  name: "lkyc",
  ...verification,
};

/** The state machine of the document verification. */
export const fkycMachine: VerificationMachine = {
  name: "fkyc",
  ...verification,
};

const { states, unlisted } = lkycMachine;

/**
 * Without a prototype, so that no state is mistaken for a property of objects.
 */
const rows: Readonly<Record<string, StateRow | undefined>> = Object.assign(
  Object.create(null),
  states,
);

/**
 * Rank of a verification state: not initiated < initiated < progress < retry <
 * failed < success < any other. `not initiated` and `initiated` stay apart.
 *
 * @param state State of a light or document verification.
 * @returns 0 to 6.
 */
export function verificationRank(state: VerificationState): number {
  return (rows[state] ?? unlisted).rank;
}

/**
 * Whether no further step of the user is expected.
 *
 * @param state State of a verification.
 * @returns True for failed and success.
 */
export function isFinalVerification(state: VerificationState): boolean {
  return (rows[state] ?? unlisted).final;
}

/**
 * Whether this version knows the state.
 *
 * @param state State of a verification.
 * @returns True for the documented states.
 */
export function isKnownVerification(
  state: VerificationState,
): state is VerificationName {
  return rows[state] !== undefined;
}

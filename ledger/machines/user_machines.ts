import type { VerificationState } from "../../core/webhook_event/webhook_event.ts";
import {
  type Decision,
  type Machine,
  type Move,
  observationsOf,
  type Outside,
  recordOf,
  SAME,
  type StateRow,
  tableOf,
  USUAL,
  WEBHOOKS,
} from "./machine.ts";
import { orderMachine } from "./order_machine.ts";
import type { Entity } from "./transition.ts";

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
  readonly name: "lkyc" | "fkyc";
}

const states: Readonly<
  Record<VerificationName, StateRow<VerificationMeaning>>
> = {
  "not initiated": { meaning: "not_begun", rank: 0, final: false },
  initiated: { meaning: "begun", rank: 1, final: false },
  progress: { meaning: "under_review", rank: 2, final: false },
  retry: { meaning: "documents_wanted", rank: 3, final: false },
  failed: { meaning: "not_passed", rank: 4, final: true },
  success: { meaning: "passed", rank: 5, final: true },
};
const rows: ReadonlyMap<string, StateRow> = new Map(Object.entries(states));
const unlisted: StateRow<VerificationMeaning> = {
  meaning: "unlisted_state",
  rank: 6,
  final: false,
};
const NAMES = [
  ...Object.keys(states) as VerificationName[],
  "unlisted",
] as const;

/** A claim received after the reading that ranks no higher: ask again. */
function decide(
  read: VerificationName | Outside,
  claim: VerificationClaim | "none",
): Decision {
  if (read === "none") return claim === "none" ? "initial" : "claim";
  if (claim === "none") return "reading";
  if (read === claim && read !== "unlisted") return "reading";
  return verificationRank(claim) > verificationRank(read)
    ? "claim"
    : "reading_in_doubt";
}

/**
 * A success that is taken back, and a verification that had begun and is not
 * initiated again, are anomalies. After a failure or a demand for documents the user
 * may begin again.
 */
function move(
  from: VerificationName | "unlisted",
  to: VerificationName | "unlisted",
): Move<VerificationAnomaly> {
  if (from === to && from !== "unlisted") return SAME;
  return from === "success" || to === "not initiated"
    ? { kind: "unusual", anomaly: "verification_reversed" }
    : USUAL;
}

/**
 * Source: service interface, "Verification state" and "Events". The service does not
 * say which moves there are: those here follow from what each state means.
 */
function verificationMachine(
  name: VerificationMachine["name"],
): VerificationMachine {
  return {
    ...{ name, states, unlisted, initial: "unknown" },
    // Every event with a user object states both verifications.
    webhooks: recordOf(
      WEBHOOKS,
      (type) => type === "otp_status" || type === "test" ? null : "stated",
    ),
    observations: observationsOf({ user_snapshot: "reads" }),
    decisions: tableOf(["none", ...NAMES], ["none", ...NAMES], decide),
    moves: tableOf(NAMES, NAMES, move),
  };
}

/** The state machine of the light verification: without documents. */
export const lkycMachine: VerificationMachine = verificationMachine("lkyc");

/** The state machine of the document verification. */
export const fkycMachine: VerificationMachine = verificationMachine("fkyc");

/** not initiated < initiated < progress < retry < failed < success < other: 0 to 6. */
export function verificationRank(state: VerificationState): number {
  return (rows.get(state) ?? unlisted).rank;
}

/** Whether no further step of the user is expected. */
export function isFinalVerification(state: VerificationState): boolean {
  return (rows.get(state) ?? unlisted).final;
}

/** Whether the state is documented. */
export function isKnownVerification(
  state: VerificationState,
): state is VerificationName {
  return rows.has(state);
}

/** Whether the service has banned a user. */
export type BanName = "not_banned" | "banned";

/** What a state of the ban means. */
export type BanMeaning = "may_buy" | "may_not_buy" | "unlisted_state";

const BANS = ["not_banned", "banned", "unlisted"] as const;

/**
 * The state machine of the ban of a user. Only readings speak of it.
 *
 * Source: service interface, "User (Data API)".
 */
export const banMachine: Machine<BanName, never, never> = {
  name: "ban",
  states: {
    not_banned: { meaning: "may_buy", rank: 0, final: false },
    banned: { meaning: "may_not_buy", rank: 1, final: false },
  },
  unlisted: { meaning: "unlisted_state", rank: 2, final: false },
  initial: "unknown",
  webhooks: recordOf(WEBHOOKS, () => null),
  observations: observationsOf({ user_snapshot: "reads" }),
  decisions: tableOf(
    ["none", ...BANS],
    ["none"],
    (read) => read === "none" ? "initial" : "reading",
  ),
  moves: tableOf(
    BANS,
    BANS,
    (from, to) => from === to && from !== "unlisted" ? SAME : USUAL,
  ),
};

/** The state machines of orders and of users, in the order of reading. */
export const MACHINES: Readonly<Record<Entity, readonly Machine[]>> = {
  order: [orderMachine],
  user: [lkycMachine, fkycMachine, banMachine],
};

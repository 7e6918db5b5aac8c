import type { VerificationState } from "../../core/webhook_event/webhook_event.ts";
import type { StateRow } from "./machine.ts";
import { lkycMachine, type VerificationName } from "./verification_machine.ts";

const { states, unlisted } = lkycMachine;

/** Has no prototype, so that no state is mistaken for a name of an object. */
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

import type { VerificationState } from "../../core/webhook_event/webhook_event.ts";

/** Rank of a state this version does not know: above all, so that it is read again. */
const unknownRank = 6;

/**
 * Rank of a verification state: not initiated < initiated < progress < retry <
 * failed < success < any other. `not initiated` and `initiated` stay apart.
 *
 * @param state State of a light or document verification.
 * @returns 0 to 6.
 */
export function verificationRank(state: VerificationState): number {
  switch (state) {
    case "not initiated":
      return 0;
    case "initiated":
      return 1;
    case "progress":
      return 2;
    case "retry":
      return 3;
    case "failed":
      return 4;
    case "success":
      return 5;
    default:
      return unknownRank;
  }
}

/**
 * Whether this version knows the state.
 *
 * @param state State of a verification.
 * @returns True for the documented states.
 */
export function isKnownVerification(state: VerificationState): boolean {
  return verificationRank(state) !== unknownRank;
}

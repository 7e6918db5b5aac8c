import type { VerificationName } from "../machines/verification_machine.ts";
import type { UserStatus } from "./user_status.ts";

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
export const NEXT_STEPS: Readonly<
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

/**
 * What a user of that status must do next.
 *
 * @param status Combined status of the user.
 */
export function nextStep(status: UserStatus["status"]): NextStep {
  return Object.hasOwn(NEXT_STEPS, status)
    ? NEXT_STEPS[status as keyof typeof NEXT_STEPS]
    : "unknown";
}

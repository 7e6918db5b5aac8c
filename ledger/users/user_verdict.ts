import type { VerificationState } from "../../core/webhook_event/webhook_event.ts";
import type { UserState } from "./user_state.ts";

/** Which verification: light, or with documents. */
export type VerificationKind = "lkyc" | "fkyc";

/**
 * What is to be said of a user first, as a code with its data. `by` is the
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
  /** Begun, or being checked, or a state that this version does not know. */
  | {
    readonly code: "under_way";
    readonly by: VerificationKind;
    readonly state: VerificationState;
  }
  /** The user has begun no verification. */
  | { readonly code: "not_begun" };

/**
 * Sums up a user: the one thing that a person has to know first.
 *
 * @param user The user.
 * @returns A code, and what it is about.
 *
 * @example A user of whom nothing is known
 * ```ts
 * import { userVerdictOf } from "@rampkit/onramp/ledger";
 * import { initialUserFold, userState } from "@rampkit/onramp/ledger/internals";
 * import assert from "node:assert/strict";
 *
 * const { code } = userVerdictOf(userState(initialUserFold("01USER")));
 * assert.equal(code, "nothing_known");
 * ```
 */
export function userVerdictOf(user: UserState): UserVerdict {
  if (user.banned === true) return { code: "banned" };
  const { verification, verificationTrust, rejectReasons } = user;
  const { fkyc } = verification;
  const by = fkyc !== null && fkyc !== "not initiated" ? "fkyc" : "lkyc";
  const state = verification[by];
  if (state === null) return { code: "nothing_known" };
  if (verificationTrust[by] === "claimed") {
    return { code: "not_confirmed", by, claimed: state };
  }
  switch (state) {
    case "success":
      return { code: "verified", by };
    case "failed":
      return {
        code: "failed",
        by,
        rejectReasons: rejectReasons.filter((reason) =>
          reason.toLowerCase().startsWith(`${by}_`)
        ),
      };
    case "retry":
      return { code: "retry", by };
    case "not initiated":
      return { code: "not_begun" };
    default:
      return { code: "under_way", by, state };
  }
}

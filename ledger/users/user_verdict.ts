import type { VerificationState } from "../../core/webhook_event/webhook_event.ts";
import type { NextStep } from "./user_status.ts";
import type { UserState } from "./user_state.ts";

/** Which verification: light, or with documents. */
export type VerificationKind = "lkyc" | "fkyc";

/**
 * The most important thing about a user, as a code with its data. `by` is the
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
  /** A webhook stated something else since, that does not rank higher. */
  | {
    readonly code: "doubted";
    readonly by: VerificationKind;
    readonly state: VerificationState;
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
  /**
   * Begun, or being checked, or a state that this version does not know. The
   * user has to finish it, to wait, or does what this version does not know.
   */
  | {
    readonly code: "under_way";
    readonly by: VerificationKind;
    readonly state: VerificationState;
    readonly next: Extract<
      NextStep,
      "finish_verification" | "wait" | "unknown"
    >;
  }
  /** The user has begun no verification. */
  | { readonly code: "not_begun" };

/** Sums up a user in the one thing that a person has to know first. */
export function userVerdictOf(user: UserState): UserVerdict {
  const { verification, verificationTrust, laterClaims, next } = user;
  if (next === "cannot_buy") return { code: "banned" };
  const { fkyc } = verification;
  const by = fkyc !== null && fkyc !== "not initiated" ? "fkyc" : "lkyc";
  const state = verification[by];
  if (state === null) return { code: "nothing_known" };
  if (verificationTrust[by] === "claimed") {
    return { code: "not_confirmed", by, claimed: state };
  }
  const claimed = laterClaims[by];
  if (claimed !== null) return { code: "doubted", by, state, claimed };
  switch (next) {
    case "none":
      return { code: "verified", by };
    case "see_reject_reasons":
      return {
        code: "failed",
        by,
        rejectReasons: user.rejectReasons.filter((reason) =>
          reason.toLowerCase().startsWith(`${by}_`)
        ),
      };
    case "upload_documents":
      return { code: "retry", by };
    case "start_verification":
      return { code: "not_begun" };
    case "finish_verification":
    case "wait":
    case "unknown":
      return { code: "under_way", by, state, next };
  }
}

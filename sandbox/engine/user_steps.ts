import type {
  RejectType,
  UserEventType,
} from "../../core/webhook_event/webhook_event.ts";
import type { SandboxCard, SandboxUser } from "./sandbox_user.ts";

/**
 * What can happen to a user. Each sends the webhook of the same name;
 * `otp_*` are the steps of sending a one-time code.
 */
export type UserStep =
  | UserEventType
  | "verify_failed"
  | "otp_requested"
  | "otp_success"
  | "otp_failed";

/** What a step does to a user. */
export interface UserStepTaken {
  /** The user afterwards. */
  readonly user: SandboxUser;
  /** Type of the webhook. */
  readonly event: string;
  /** Fields of the webhook beside the user object. */
  readonly more: Record<string, unknown>;
  /** Status of the one-time code, or null. */
  readonly otp: "requested" | "success" | "failed" | null;
}

/** What each step changes. */
const STEPS: Readonly<Record<UserStep, Partial<SandboxUser>>> = {
  registration: {},
  login: {},
  logout: {},
  card_added: {},
  verify_start: { lkyc: "initiated" },
  verify_retry: { lkyc: "progress", fkyc: "retry" },
  verify_success: { lkyc: "success" },
  verify_failed: { lkyc: "failed" },
  otp_requested: {},
  otp_success: {},
  otp_failed: {},
};

/** Every step a user can take. */
export const USER_STEPS: readonly UserStep[] = Object.keys(
  STEPS,
) as UserStep[];

/**
 * Lets a user take a step.
 *
 * @param user The user before.
 * @param step What happens.
 * @param facts The card to save, for `card_added`.
 * @returns The user afterwards and the webhook to send.
 * @throws {RangeError} If the step does not exist.
 *
 * @example Reject a verification
 * ```ts
 * import { createSandbox, takeUserStep } from "@rampkit/onramp/sandbox";
 * import assert from "node:assert/strict";
 *
 * const taken = takeUserStep(createSandbox().createUser(), "verify_failed", {
 *   card: { cardId: "1", brand: "VISA", lastDigits: "1111", createdAtMs: 0 },
 * });
 * assert.equal(taken.user.lkyc, "failed");
 * assert.equal(taken.more.reject_type, "LKYC_FAILED_GENERAL");
 * ```
 */
export function takeUserStep(
  user: SandboxUser,
  step: UserStep,
  facts: { readonly card: SandboxCard },
): UserStepTaken {
  if (!Object.hasOwn(STEPS, step)) {
    throw new RangeError(
      `Cannot advance user ${user.userId}: "${step}" is not a step; use ` +
        USER_STEPS.join(", "),
    );
  }
  const rejected: RejectType = user.fkyc === "retry"
    ? "FKYC_FAILED_GENERAL"
    : "LKYC_FAILED_GENERAL";
  return {
    event: step.startsWith("otp_") ? "otp_status" : step,
    more: step === "verify_failed" ? { reject_type: rejected } : {},
    otp: step === "otp_requested"
      ? "requested"
      : step === "otp_success"
      ? "success"
      : step === "otp_failed"
      ? "failed"
      : null,
    user: {
      ...user,
      ...STEPS[step],
      // Documents that were asked for again have passed by then.
      ...(step === "verify_success" && user.fkyc === "retry" &&
        { fkyc: "success" }),
      ...(step === "card_added" && { cards: [...user.cards, facts.card] }),
    },
  };
}

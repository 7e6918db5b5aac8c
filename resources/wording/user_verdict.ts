import { describeRejectType } from "../../core/webhook_event/webhook_event.ts";
import type { Anomaly, UserVerdict } from "../../ledger/mod.ts";
import { ASKED_SOON, listWords, UNKNOWN_STATE } from "./phrases.ts";

const NAMES = {
  lkyc: "light verification",
  fkyc: "verification with documents",
} as const;

const UNDER_WAY = {
  finish_verification: ", and the user must finish it",
  wait: ", and the user must wait",
  unknown: "",
} as const;

/** The most important thing about a user, in one line. */
export function describeUserVerdict(verdict: UserVerdict): string {
  switch (verdict.code) {
    case "nothing_known":
      return "Nothing is known of a verification.";
    case "banned":
      return "Banned by the service: cannot buy.";
    case "not_confirmed":
      return `Not confirmed: a webhook says ${verdict.claimed} of the ${
        NAMES[verdict.by]
      }, and the service has not said so.`;
    case "doubted":
      return `Wait: the ${
        NAMES[verdict.by]
      } is ${verdict.state}, a later webhook says ${verdict.claimed}, and ` +
        "the service has not been asked since.";
    case "verified":
      return `Verified by the ${NAMES[verdict.by]}: may buy within the limits.`;
    case "failed":
      return `The ${NAMES[verdict.by]} failed` +
        (verdict.rejectReasons.length === 0
          ? ", and no webhook says why."
          : `: ${listWords(verdict.rejectReasons.map(rejection))}.`);
    case "retry":
      return `The ${
        NAMES[verdict.by]
      } has to be repeated: the user must hand in documents again.`;
    case "under_way":
      return `The ${NAMES[verdict.by]} is under way: ${verdict.state}` +
        `${UNDER_WAY[verdict.next]}.`;
    case "not_begun":
      return "Not verified: the user must begin.";
  }
}

/** The next step for staff about a user, by verdict. */
const NEXT: Readonly<Record<UserVerdict["code"], string>> = {
  nothing_known: "Nothing.",
  banned: "Nothing can be bought. Where the user asks, ask the service why.",
  not_confirmed: ASKED_SOON,
  doubted: ASKED_SOON,
  verified: "Nothing.",
  failed: "Tell the user why, where a reason is named; else ask the service.",
  retry: "Tell the user to hand in documents again; nothing can be bought " +
    "until then.",
  under_way: "Nothing: the service says when it is over.",
  not_begun: "Nothing: the user begins in the widget.",
};

/** Where an anomaly asks for more than the verdict does. */
const NEXT_OF_ANOMALY: Partial<Record<Anomaly["kind"], string>> = {
  verification_reversed:
    "The service took a verification back: ask it which state holds, and " +
    "hold the user's orders that are not delivered.",
};

/** The next step for staff about a user, in one sentence or two. */
export function userNext(
  verdict: UserVerdict,
  anomalies: readonly Pick<Anomaly, "kind">[],
): string {
  for (const { kind } of anomalies) {
    const next = NEXT_OF_ANOMALY[kind];
    if (next !== undefined) return next;
  }
  if (verdict.code === "under_way") {
    if (verdict.next === "finish_verification") {
      return "Tell the user to finish the verification.";
    }
    if (verdict.next === "unknown") return UNKNOWN_STATE;
  }
  return NEXT[verdict.code];
}

function rejection(code: string): string {
  return describeRejectType(code) ?? code;
}

/** What the user may be told, by verdict. */
const CUSTOMER: Readonly<Record<UserVerdict["code"], string>> = {
  nothing_known: "You have not begun a purchase with our payment partner yet.",
  banned: "Our payment partner does not accept purchases from your account. " +
    "We have no further details; please ask their support.",
  not_confirmed: "Our payment partner is looking at your verification. We " +
    "will know more in a few minutes.",
  doubted: "Our payment partner is looking at your verification again. We " +
    "will know more in a few minutes.",
  verified: "You are verified and can buy within your limits.",
  failed: "Our payment partner could not verify you, so that you cannot buy " +
    "at the moment. Please ask their support for the reason.",
  retry: "Please hand in your documents again in the payment window; you can " +
    "buy once they are accepted.",
  under_way: "Your verification is under way; you need do nothing until you " +
    "are asked.",
  not_begun: "You can begin your verification in the payment window.",
};

/** What the user may be told, in a sentence or two. */
export function userCustomer({ code, ...verdict }: UserVerdict): string {
  return code === "under_way" && "next" in verdict &&
      verdict.next === "finish_verification"
    ? "Please finish your verification in the payment window."
    : CUSTOMER[code];
}

import { describeRejectType } from "../../core/webhook_event/reject_type.ts";
import type { UserVerdict } from "../../ledger/mod.ts";
import { listWords } from "./list_words.ts";

const NAMES = {
  lkyc: "light verification",
  fkyc: "verification with documents",
} as const;

const UNDER_WAY = {
  finish_verification: ", and the user must finish it",
  wait: ", and the user must wait",
  unknown: "",
} as const;

/** What is to be said of a user first, in one line. */
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

function rejection(code: string): string {
  return describeRejectType(code) ?? code;
}

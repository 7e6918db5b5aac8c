import type { UserReason } from "../../ledger/types.ts";
import { listWords } from "./list_words.ts";

/** Why the trust in the status of a user is what it is, in one sentence. */
export function describeUserReason(reason: UserReason): string {
  switch (reason.code) {
    case "not_read":
      return "The service has not been read yet, webhooks are all there is";
    case "reading_stands":
      return "The latest reading says so, and no later webhook claims more";
    case "claim_after_reading":
      return `A webhook received after the latest reading claims ${
        verifications(reason)
      }`;
    case "lower_claim_after_reading":
      return "The latest reading stands until the next one; a webhook " +
        `received after it states ${
          verifications(reason)
        }, which ranks no higher`;
  }
}

function verifications(
  { lkyc, fkyc }: Extract<UserReason, { readonly lkyc: unknown }>,
): string {
  return listWords([
    ...(lkyc === null ? [] : [`light verification ${lkyc}`]),
    ...(fkyc === null ? [] : [`document verification ${fkyc}`]),
  ]);
}

import type { OrderReason } from "../../ledger/mod.ts";
import { listWords } from "./phrases.ts";
import type { ExplainedMove } from "../../ledger/for_resources.ts";
import type { UserReason } from "../../ledger/types.ts";

/** Why the status of an order is what it is, in one sentence. */
export function describeOrderReason(reason: OrderReason): string {
  switch (reason.code) {
    case "reading_is_final":
      return `The latest reading shows ${reason.read}, which is final`;
    case "reading_stands":
      return `The latest reading shows ${reason.read}, and no webhook claims more`;
    case "reading_unrecognised":
      return `The latest reading shows ${reason.read}, a status this version does not know and never takes as final`;
    case "reading_without_status":
      return "The service shows the order without a status that can be read" +
        (reason.claimed === null ? "" : `, a webhook claims ${reason.claimed}`);
    case "final_reading_contested":
      return `The latest reading shows ${reason.read}, and a claim of ${
        listWords(reason.contesting)
      } does not change a final status`;
    case "higher_claims_contradicted":
      return `The latest reading shows ${reason.read}; the service did not agree with ${
        listWords(reason.contradicted)
      } as claimed by webhooks`;
    case "claim_ahead_of_reading":
      return `A webhook claims ${reason.claimed}, which is ahead of ${reason.read} in the latest reading`;
    case "claim_not_read":
      return `A webhook claims ${reason.claimed} and the service has not been read yet`;
    case "claim_of_absent_order":
      return `A webhook claims ${reason.claimed}, and the service was asked and does not know the order`;
    case "all_claims_contradicted":
      return `The service did not agree with ${
        listWords(reason.contradicted)
      } as claimed by webhooks, and shows no such order`;
    case "nothing_claimed_or_read":
      return "No webhook claims a status and the service has not been read yet";
    case "nothing_claimed_of_absent_order":
      return "No webhook claims a status, and the service was asked and does not know the order";
  }
}

/** The move that an event made on the machine of an order, in one line. */
export function describeMove(
  { from, to, decision, reading }: ExplainedMove,
): string {
  const after = decision === "initial"
    ? "no status that counts"
    : `${to.status} (${to.trust})`;
  const steps = from === null
    ? `begins as ${after}`
    : from.status === to.status && from.trust === to.trust
    ? `stays ${after}`
    : `${from.status} (${from.trust}) -> ${after}`;
  if (reading === null || reading.anomaly === null) return steps;
  return `${steps}; the service went from ${reading.from} to ${reading.to}, ` +
    `${kinds[reading.kind]} (${reading.anomaly})`;
}

const kinds: Readonly<
  Record<NonNullable<ExplainedMove["reading"]>["kind"], string>
> = {
  same: "which is no move",
  usual: "which is usual",
  unusual: "which is unusual",
  impossible: "which cannot be by its own description",
};

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

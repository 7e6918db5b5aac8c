import { describeIncomplete } from "../../core/wire/completeness.ts";
import type { UnprovenReason } from "../../sync/mod.ts";

/** Why it is not proven that the service showed everything, in one sentence. */
function describeUnproven(reason: UnprovenReason): string {
  switch (reason.code) {
    case "order_refused":
      return `The service refuses to be asked for order ${
        JSON.stringify(reason.orderId)
      }`;
    case "search_not_ended":
      return "A search by order ids did not reach its end";
    default:
      return describeIncomplete(reason);
  }
}

/** The same for JSON: a sentence, and the code with its data. */
export function unprovenJson<Reason extends UnprovenReason>(
  reason: Reason | null,
): { readonly why: string | null; readonly reason: Reason | null } {
  return { why: reason === null ? null : describeUnproven(reason), reason };
}

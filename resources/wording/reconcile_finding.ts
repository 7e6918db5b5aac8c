import type { ReconcileRow } from "../../sync/mod.ts";
import { listWords } from "./list_words.ts";

/** What reconciliation found about one order, in one sentence. */
export function describeFinding(
  { finding, differences }: Pick<ReconcileRow, "finding" | "differences">,
): string {
  const list = () =>
    differences.map(({ field, service, ledger }) =>
      `${field} is ${service} at the service and ${ledger ?? "unknown"} here`
    ).join("; ");
  switch (finding.code) {
    case "unknown_to_service":
      return `The ledger has it as ${finding.status} (${finding.trust}), the service does not know it`;
    case "unknown_to_ledger":
      return `The service has it as ${finding.status}, the ledger does not know it`;
    case "change_not_read":
      return `The ledger has not read the last change: ${list()}`;
    case "claim_contests_final":
      return `The service shows ${finding.read}, a webhook claims ${
        listWords(finding.claimed)
      }`;
    case "claim_contradicted":
      return `A webhook claimed ${finding.claimed}, and the service ` +
        (finding.read === null ? "did not agree" : `shows ${finding.read}`);
    case "final_changed":
      return `The service shows ${finding.read}, and has shown ${
        listWords(finding.before)
      }, which was final: look at what was released or refunded`;
    case "claim_of_other_end":
      return `A webhook claims another end: ${list()}`;
    case "claim_equal":
      return "A webhook claims what the service shows; the ledger has not read it yet";
    case "claim_differs":
      return `A webhook is ahead of the service or wrong: ${list()}`;
    case "agree":
      return `Both have it as ${finding.status}`;
  }
}

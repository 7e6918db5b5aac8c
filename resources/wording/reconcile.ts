import { OUTCOME_TABLE } from "../../ledger/for_resources.ts";
import { describeIncomplete } from "../../core/wire/objects.ts";
import type {
  ReconcileCategory,
  ReconcileFlag,
  ReconcileRow,
  UnprovenReason,
} from "../../sync/mod.ts";
import { ATTENTION, OUTCOME_WORDS } from "./outcome.ts";
import { listWords } from "./phrases.ts";

/** What one finding of `reconcile` means, and what to do. */
interface FindingWords {
  readonly meaning: string;
  readonly next: string;
}

/** Of what service and ledger have, compared. */
const COMPARED: Readonly<
  Record<ReconcileCategory | "missed_webhook", FindingWords>
> = {
  final_changed: {
    meaning: "The service took a final status back, as in a claw-back",
    next: "Compare with what you released or refunded.",
  },
  contradicted: {
    meaning: "The service does not agree with a webhook",
    next: "Treat the webhook as forged or premature.",
  },
  absent: {
    meaning: "The service does not know the order",
    next: "Release no goods; look for forged webhooks.",
  },
  behind: {
    meaning: "The service is further than the ledger",
    next: "Wait a minute if `serve` polls, else `poll --once`.",
  },
  claimed_only: {
    meaning: "A webhook said so, the service has not confirmed it",
    next: "Release no goods; else as for `behind`.",
  },
  missed_webhook: {
    meaning: "Confirmed by polling, and no webhook ever came",
    next: "Look at delivery if there are many.",
  },
  agree: { meaning: "Both say the same", next: "Nothing." },
};

/**
 * What a finding of `reconcile` means, and what to do: where the table of
 * outcomes has a row for it, in the words of that row.
 */
export function reconcileWords(
  found: ReconcileCategory | ReconcileFlag,
): FindingWords {
  if (found in COMPARED) return COMPARED[found as keyof typeof COMPARED];
  const kind = found as keyof typeof ATTENTION;
  const row = OUTCOME_TABLE.find(({ attention }) => attention === kind);
  return {
    meaning: ATTENTION[kind],
    next: row === undefined ? "" : OUTCOME_WORDS[row.code].next,
  };
}

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

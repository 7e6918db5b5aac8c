import { OUTCOME_TABLE } from "../../ledger/for_resources.ts";
import type { ReconcileCategory, ReconcileFlag } from "../../sync/mod.ts";
import { ATTENTION } from "./attention.ts";
import { OUTCOME_WORDS } from "./outcome.ts";

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

import type { Status, Trust } from "../../ledger/mod.ts";

/**
 * What was found about one order, as a code with its data. The fields that
 * differ stand in `differences` of the row.
 */
export type ReconcileFinding =
  | {
    /** The ledger knows the order, the service does not. */
    readonly code: "unknown_to_service";
    /** Status in the ledger. */
    readonly status: Status;
    /** How sure the ledger is. */
    readonly trust: Trust;
  }
  | {
    /** The service knows the order, the ledger does not. */
    readonly code: "unknown_to_ledger";
    /** Status at the service. */
    readonly status: Status;
  }
  | {
    /** Webhooks claim other final statuses than the service shows. */
    readonly code: "claim_contests_final";
    /** Status that the service shows. */
    readonly read: Status;
    /** Statuses that webhooks claim. */
    readonly claimed: readonly Status[];
  }
  | {
    /** The service did not agree with a claim. */
    readonly code: "claim_contradicted";
    /** Status that a webhook claimed. */
    readonly claimed: Status;
    /** Status that the service shows; null when it does not know the order. */
    readonly read: Status | null;
  }
  | {
    /** The service took a final status back. */
    readonly code: "final_changed";
    /** Status that the service shows. */
    readonly read: Status;
    /** Final statuses that it has shown before. */
    readonly before: readonly Status[];
  }
  | {
    /**
     * - `claim_of_other_end`: a webhook claims another final status.
     * - `claim_equal`: a webhook claims what the service shows, and the
     *   ledger has not read it yet.
     * - `claim_differs`: a webhook is ahead of the service, or wrong.
     * - `change_not_read`: the ledger has not read the last change.
     */
    readonly code:
      | "claim_of_other_end"
      | "claim_equal"
      | "claim_differs"
      | "change_not_read";
  }
  | {
    /** Both sides hold the same. */
    readonly code: "agree";
    /** The status that both have. */
    readonly status: Status;
  };

/** Something odd that a person may have to look at: a value, not an error. */
export interface Anomaly {
  /** What kind of oddity. */
  readonly kind: AnomalyKind;
  /** The field concerned, for mismatches. */
  readonly field?: string;
  /** One sentence for people. */
  readonly detail: string;
}

/** The kinds of anomaly. */
export type AnomalyKind =
  /** A counting final claim differs from the confirmed final status. */
  | "contested"
  /** Webhooks claim more than one final status. */
  | "contradictory_webhooks"
  /** The service did not agree with a claim for ten minutes. */
  | "contradicted"
  /** Webhook and snapshot, or session and order, differ in a field. */
  | "amount_mismatch"
  | "asset_mismatch"
  | "user_mismatch"
  | "address_mismatch"
  | "transaction_mismatch"
  /** Confirmed success whose transaction field is present and empty. */
  | "success_without_transaction"
  /** A transaction on a failed or cancelled order. */
  | "transaction_on_unsuccessful"
  /** The service's own history went backwards. */
  | "regression"
  /** Asked and not there, after the latest snapshot. */
  | "absent"
  /** A status this version does not know. */
  | "unrecognised_status";

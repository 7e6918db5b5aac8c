/** How sure the ledger is: a webhook claims, the Data API confirms. */
export type Trust = "claimed" | "confirmed";

/**
 * The status of an order: the documented ones, or one not known here, which
 * ranks above all and is never final.
 */
export type Status =
  | "created"
  | "progress"
  | "pending"
  | "failed"
  | "success"
  | "cancelled"
  | (string & Record<never, never>);

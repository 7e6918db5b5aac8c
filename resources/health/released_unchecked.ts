/**
 * What is said where orders succeed and nothing was ever recorded to compare
 * them with: one condition of the ledger, and not a task for each order.
 */
export const RELEASED_UNCHECKED = {
  message: "Orders are released unchecked: nothing was ever recorded to " +
    "compare them with",
  advice: "Record what you ask for before the customer pays, with " +
    "ledger.recordSession(), ledger.expect() or POST /v1/sessions; until then " +
    "compare amount, asset and address yourself before you release",
} as const;

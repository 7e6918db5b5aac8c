import type { FoundField } from "../../ledger/types.ts";

/** Says of what only webhooks name that it may be somebody else's. */
export const CLAIMED_MATCH = "only webhooks say so";

/** What a text is found as, for people. */
export const FOUND_FIELDS: Readonly<Record<FoundField, string>> = {
  orderId: "order id",
  externalOrderId: "external order id",
  reference: "reference",
  clickId: "click id",
  sessionId: "session",
  txId: "transaction",
  address: "wallet address",
  userId: "user id",
};

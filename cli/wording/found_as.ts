import type { FoundAs } from "../../ledger/mod.ts";

/** What a text is found as, for people. */
export const FOUND_AS: Readonly<Record<FoundAs, string>> = {
  orderId: "order id",
  externalOrderId: "external order id",
  reference: "reference",
  clickId: "click id",
  sessionId: "session",
  txId: "transaction",
  address: "wallet address",
  userId: "user id",
};

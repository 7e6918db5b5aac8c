import type { FindResult } from "../../ledger/mod.ts";
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
  note: "words of a note",
};

/** Says of what the partner recorded that no order has come of it. */
export function recordedText(
  { sessionId, clickId, reference, askedAt, validUntil }:
    FindResult["recorded"][number],
): string {
  const names = [
    sessionId !== null && `session ${sessionId}`,
    clickId !== null && `click id ${clickId}`,
    reference !== null && `reference ${reference}`,
  ].filter((name) => name !== false);
  return `No order has come of what you recorded as ${names.join(", ")} at ` +
    `${askedAt}, valid until ${validUntil}`;
}

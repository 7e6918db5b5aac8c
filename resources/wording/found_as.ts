import type { FindResult } from "../../ledger/mod.ts";
import type { FoundField } from "../../ledger/types.ts";

/** Says of what only webhooks name that it may be somebody else's. */
export const CLAIMED_MATCH = "only webhooks say so";

/** The field in which a text is found, for people. */
export const FOUND_FIELDS: Readonly<Record<FoundField, string>> = {
  orderId: "order id",
  externalOrderId: "external order id",
  reference: "reference",
  clickId: "click id",
  sessionId: "session",
  txId: "transaction",
  address: "wallet address",
  cardId: "card id",
  userId: "user id",
  note: "words of a note",
};

/** What is said of a text that the service never provides. */
export const NOT_TOLD =
  "The service does not provide e-mail addresses and phone numbers, so nothing is found by them. Ask the customer for the order number in the " +
  "confirmation of the payment, your own order number, the hash of the " +
  "transaction, or the address of the wallet.";

/** Says that no order matches what the partner recorded. */
export function recordedText(
  { sessionId, clickId, reference, askedAt, validUntil }:
    FindResult["recorded"][number],
): string {
  const names = [
    sessionId !== null && `session ${sessionId}`,
    clickId !== null && `click id ${clickId}`,
    reference !== null && `reference ${reference}`,
  ].filter((name) => name !== false);
  return `No order matches what you recorded as ${names.join(", ")} at ` +
    `${askedAt}, valid until ${validUntil}`;
}

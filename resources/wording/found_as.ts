import {
  ORDER_FIELDS,
  type OrderFieldName,
} from "../../core/wire/order_fields.ts";
import type { FindResult } from "../../ledger/mod.ts";
import type { FoundField } from "../../ledger/types.ts";

/** Says of what only webhooks name that it may be somebody else's. */
export const CLAIMED_MATCH = "only webhooks say so";

/** Names of what is found that is no field of an order in the table. */
const OTHER_FIELDS: Readonly<
  Record<Exclude<FoundField, OrderFieldName>, string>
> = {
  orderId: "order id",
  reference: "reference",
  sessionId: "session",
};

/** The field in which a text is found, for people. */
export function foundField(field: FoundField): string {
  return isOther(field)
    ? OTHER_FIELDS[field]
    : ORDER_FIELDS[field].label.toLowerCase();
}

function isOther(field: FoundField): field is keyof typeof OTHER_FIELDS {
  return Object.hasOwn(OTHER_FIELDS, field);
}

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

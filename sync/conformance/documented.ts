import { ORDER_FIELD_NAMES, orderField } from "../../core/wire/order_fields.ts";

/** The statuses of an order that the description lists. */
export const ORDER_STATUSES: readonly string[] = [
  "created",
  "progress",
  "pending",
  "success",
  "failed",
  "cancelled",
];

/** The authentication methods of a payment that were seen. */
export const PAYMENT_TYPES: readonly string[] = [
  "3ds_v2",
  "non_3ds",
  "unknown",
];

/** The brands of cards. */
export const CARD_BRANDS: readonly string[] = ["VISA", "MASTERCARD"];

/** Every field of an order that the description lists. */
export const ORDER_WIRE_FIELDS: ReadonlySet<string> = new Set([
  "order_id",
  "status",
  "created_at",
  "changed_at",
  "additional_data",
  ...ORDER_FIELD_NAMES.map((name) => orderField(name).wire),
]);

/** The fields of a user that are texts. */
export const USER_TEXTS: readonly string[] = [
  "user_id",
  "country",
  "phone",
  "phone_country",
  "lkyc_status",
  "fkyc_status",
  "created_at",
];

/** Every field of a user that the description lists. */
export const USER_FIELDS: readonly string[] = [
  ...USER_TEXTS,
  "banned",
  "limits",
  "linked_payment_methods",
];

/** The fields of a user's limits. */
export const LIMIT_FIELDS: readonly string[] = [
  "crypto_remaining",
  "crypto_spending",
  "digital_goods_remaining",
  "digital_goods_spending",
];

/** The fields of a saved card. */
export const CARD_FIELDS: readonly string[] = [
  "brand",
  "card_id",
  "created_at",
  "last_digits",
];

/** The states of a verification that are met in records and webhooks. */
export const KYC_STATES: readonly string[] = [
  "not initiated",
  "initiated",
  "progress",
  "retry",
  "success",
  "failed",
];

/** How orders and users write times. */
export const ORDER_TIME_FORM = /^9999-99-99 99:99:99$/;
export const USER_TIME_FORM = /^9999-99-99T99:99:99\.9+Z$/;

import { failReasons } from "../../core/assets/fail_reason.ts";
import { isRecord } from "../../core/guards.ts";
import { WEBHOOK_TYPES } from "../../core/webhook_event/event_types.ts";
import { REJECT_TYPES } from "../../core/webhook_event/reject_type.ts";
import type { Entity } from "../../ledger/for_sync.ts";
import {
  CARD_BRANDS,
  KYC_STATES,
  ORDER_STATUSES,
  ORDER_TIME_FORM,
  ORDER_WIRE_FIELDS,
  PAYMENT_TYPES,
  USER_FIELDS,
  USER_TIME_FORM,
} from "../conformance/documented.ts";
import { fieldName, timeForm, word } from "../conformance/scrub.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Most names that one row or body gives: a stranger may write any body. */
const MOST_OF_ONE = 10;

/**
 * What in a row of the service's lists differs from the description, by name:
 * `orders.refund_state`, `orders.status=refunded`,
 * `orders.created_at is 9999/99/99`. No name holds a value that could be of a
 * person or an order.
 *
 * @param entity Orders or users.
 * @param row The decoded row.
 */
export function namesInAnswer(entity: Entity, row: Fields): string[] {
  const [list, documented] = entity === "order"
    ? ["orders", ORDER_WIRE_FIELDS] as const
    : ["users", new Set(USER_FIELDS)] as const;
  const form = entity === "order" ? ORDER_TIME_FORM : USER_TIME_FORM;
  const found = unknownFields(row, documented, list);
  for (const name of ["created_at", "changed_at"]) {
    const value = row[name];
    if (typeof value !== "string") continue;
    const shown = timeForm(value);
    if (!form.test(shown)) found.push(`${list}.${name} is ${shown}`);
  }
  const words = entity === "order"
    ? {
      status: ORDER_STATUSES,
      payment_type: PAYMENT_TYPES,
      card_brand: CARD_BRANDS,
      fail_reason: failReasons,
    }
    : { lkyc_status: KYC_STATES, fkyc_status: KYC_STATES };
  for (const [name, listed] of Object.entries(words)) {
    found.push(...unknownWord(row[name], listed, `${list}.${name}`));
  }
  return found.slice(0, MOST_OF_ONE);
}

const EVENT_FIELDS = new Set([
  "type",
  "click_id",
  "hpp_session_id",
  "order",
  "user",
  "reject_type",
]);
const OTP_FIELDS = new Set([
  "type",
  "user_id",
  "click_id",
  "phone_country_code",
  "status",
  "status_detail",
]);
const EVENT_ORDER_FIELDS = new Set([
  "id",
  "base",
  "base_amount",
  "quote",
  "quote_amount",
  "address",
  "transaction_id",
  "external_order_id",
  "partner_data",
  "error_code",
]);
const EVENT_USER_FIELDS = new Set(["user_id", "verification_status"]);
const OTP_STATUSES = ["requested", "success", "failed"];

/**
 * What in a webhook differs from the description, by name, as in
 * {@linkcode namesInAnswer}: `webhooks.type=coffee_brewed`,
 * `webhooks.order.risk`.
 *
 * @param body The decoded body.
 */
export function namesInWebhook(body: unknown): string[] {
  if (!isRecord(body)) return ["webhooks without an object"];
  const { type, order, user, reject_type, status } = body;
  const found = unknownWord(type, Object.keys(WEBHOOK_TYPES), "webhooks.type");
  // What an unknown event may hold is not described.
  if (found.length > 0 || typeof type !== "string") return found;
  const isOtp = type === "otp_status";
  found.push(
    ...unknownFields(body, isOtp ? OTP_FIELDS : EVENT_FIELDS, "webhooks"),
    ...isOtp ? unknownWord(status, OTP_STATUSES, "webhooks.status") : [],
    ...unknownWord(
      reject_type,
      Object.keys(REJECT_TYPES),
      "webhooks.reject_type",
    ),
  );
  if (isRecord(order)) {
    found.push(...unknownFields(order, EVENT_ORDER_FIELDS, "webhooks.order"));
  }
  if (isRecord(user)) {
    found.push(...unknownFields(user, EVENT_USER_FIELDS, "webhooks.user"));
    const states = user.verification_status;
    for (const kind of ["lkyc", "fkyc"]) {
      const one = isRecord(states) ? states[kind] : undefined;
      const state = isRecord(one) ? one.state : undefined;
      found.push(...unknownWord(state, KYC_STATES, `webhooks.user.${kind}`));
    }
  }
  return found.slice(0, MOST_OF_ONE);
}

function unknownFields(
  fields: Fields,
  documented: ReadonlySet<string>,
  where: string,
): string[] {
  return Object.keys(fields).filter((name) => !documented.has(name))
    .slice(0, MOST_OF_ONE).map((name) => `${where}.${fieldName(name)}`);
}

function unknownWord(
  value: unknown,
  documented: readonly string[],
  where: string,
): string[] {
  return typeof value !== "string" || value === "" || documented.includes(value)
    ? []
    : [`${where}=${word(value, documented)}`];
}

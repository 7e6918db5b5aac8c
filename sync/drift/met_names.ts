import { failReasons } from "../../core/assets/fail_reason.ts";
import { isRecord } from "../../core/guards.ts";
import { WEBHOOK_TYPES } from "../../core/webhook_event/event_types.ts";
import { WEBHOOK_FIELDS } from "../../core/webhook_event/parse_webhook.ts";
import { REJECT_TYPES } from "../../core/webhook_event/reject_type.ts";
import type { Entity } from "../../ledger/for_sync.ts";
import { ORDER_STATUSES, PAYMENT_TYPES } from "../../core/wire/order.ts";
import { ORDER_FIELD_NAMES, orderField } from "../../core/wire/order_fields.ts";
import { VERIFICATION_STATUSES } from "../../core/wire/user.ts";
import { USER_FIELDS } from "../../core/wire/user_fields.ts";
import {
  fieldName,
  ORDER_TIME_FORM,
  timeForm,
  word,
} from "../conformance/scrub.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The fields that the description lists, times as they are written there. */
const LISTS = {
  order: {
    name: "orders",
    fields: [
      "order_id",
      "status",
      "created_at",
      "changed_at",
      "additional_data",
      ...ORDER_FIELD_NAMES.map((name) => orderField(name).wire),
    ],
    time: ORDER_TIME_FORM,
    words: {
      status: ORDER_STATUSES,
      payment_type: PAYMENT_TYPES,
      card_brand: ["VISA", "MASTERCARD"],
      fail_reason: failReasons,
    },
  },
  user: {
    name: "users",
    fields: [
      "user_id",
      "limits",
      "linked_payment_methods",
      ...Object.values(USER_FIELDS).map(({ wire }) => wire),
    ],
    time: /^9999-99-99T99:99:99\.9+Z$/,
    words: {
      lkyc_status: VERIFICATION_STATUSES,
      fkyc_status: VERIFICATION_STATUSES,
    },
  },
};

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
  const { name: list, fields, time, words } = LISTS[entity];
  const found = unknownFields(row, fields, list);
  for (const name of ["created_at", "changed_at"]) {
    const value = row[name];
    if (typeof value !== "string") continue;
    const shown = timeForm(value);
    if (!time.test(shown)) found.push(`${list}.${name} is ${shown}`);
  }
  for (const [name, listed] of Object.entries(words)) {
    found.push(...unknownWord(row[name], listed, `${list}.${name}`));
  }
  return found.slice(0, MOST_OF_ONE);
}

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
    ...unknownFields(
      body,
      isOtp ? WEBHOOK_FIELDS.otp : WEBHOOK_FIELDS.event,
      "webhooks",
    ),
    ...isOtp ? unknownWord(status, OTP_STATUSES, "webhooks.status") : [],
    ...unknownWord(
      reject_type,
      Object.keys(REJECT_TYPES),
      "webhooks.reject_type",
    ),
  );
  if (isRecord(order)) {
    found.push(...unknownFields(order, WEBHOOK_FIELDS.order, "webhooks.order"));
  }
  if (isRecord(user)) {
    found.push(...unknownFields(user, WEBHOOK_FIELDS.user, "webhooks.user"));
    const states = user.verification_status;
    for (const kind of ["lkyc", "fkyc"]) {
      const one = isRecord(states) ? states[kind] : undefined;
      const state = isRecord(one) ? one.state : undefined;
      found.push(
        ...unknownWord(state, VERIFICATION_STATUSES, `webhooks.user.${kind}`),
      );
    }
  }
  return found.slice(0, MOST_OF_ONE);
}

function unknownFields(
  fields: Fields,
  documented: readonly string[],
  where: string,
): string[] {
  return Object.keys(fields).filter((name) => !documented.includes(name))
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

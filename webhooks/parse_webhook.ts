import type {
  OrderEvent,
  OtpStatusEvent,
  PartnerData,
  TestEvent,
  UnrecognisedWebhook,
  UserEvent,
  UserEventType,
  VerificationOf,
  VerifyFailedEvent,
  WebhookEvent,
  WebhookOrder,
  WebhookUser,
} from "./event.ts";
import { exactNumbers } from "./_exact_numbers.ts";
import { webhookType } from "./event_types.ts";

const decoder = new TextDecoder();

/**
 * Reads the body of a webhook.
 *
 * Only what an event cannot do without decides whether it is recognised: a
 * documented `type`; an order with an id that is not empty for order events; a
 * `user_id` and a `status` for `otp_status`. Anything else that is missing or
 * of another type than documented is left out. Values of open lists are kept
 * as sent. An amount that comes as a JSON number is kept as its exact text.
 *
 * @param body The bytes or the text received.
 * @returns The event, or the reasons why it is none of the documented ones.
 * @throws {SyntaxError} When `body` is not JSON. Well-formed JSON never throws.
 *
 * @example Every case, checked by the compiler
 * ```ts
 * import { parseWebhook } from "@rampkit/onramp/webhooks";
 * import assert from "node:assert/strict";
 *
 * const event = parseWebhook(JSON.stringify({
 *   type: "order_canceled",
 *   click_id: "basket-7",
 *   order: { id: "01HX", quote: "USD", quote_amount: "12.30" },
 * }));
 * assert.equal(event.type, "order_cancelled");
 *
 * const unknown = parseWebhook(`{"type":"coffee_brewed"}`);
 * assert(unknown.type === "unrecognised");
 * assert.deepEqual(unknown.reasons, ["Unknown type: coffee_brewed"]);
 * ```
 */
export function parseWebhook(
  body: string | Uint8Array,
): WebhookEvent | UnrecognisedWebhook {
  const text = typeof body === "string" ? body : decoder.decode(body);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // V8's own message quotes the body, which may name a person.
    throw new SyntaxError(
      `Cannot parse webhook: its ${text.length} characters are not JSON`,
    );
  }
  return readWebhook(hasNumericAmount(value) ? exactNumbers(text) : value);
}

/**
 * Reads the body of a webhook that `JSON.parse` has already been through.
 *
 * Rules and result are those of {@linkcode parseWebhook}, but for one thing:
 * an amount that came as a JSON number has lost its exact text, and is left
 * out.
 *
 * @param value Any value.
 * @returns The event, or the reasons why it is none of the documented ones.
 *
 * @example A value that is no object
 * ```ts
 * import { readWebhook } from "@rampkit/onramp/webhooks";
 * import assert from "node:assert/strict";
 *
 * const webhook = readWebhook([]);
 * assert(webhook.type === "unrecognised");
 * assert.deepEqual(webhook.reasons, ["The body is an array, not an object"]);
 * ```
 */
export function readWebhook(
  value: unknown,
): WebhookEvent | UnrecognisedWebhook {
  if (!isRecord(value)) {
    return unrecognised(null, `The body is ${nounOf(value)}, not an object`);
  }
  const stated = value.type;
  if (typeof stated !== "string") {
    return unrecognised(
      null,
      stated === undefined
        ? "The body states no type"
        : `The type is ${nounOf(stated)}, not a string`,
    );
  }
  const type = webhookType(stated);
  switch (type) {
    case "payment_started":
    case "transfer_started":
    case "order_complete":
    case "order_failed":
    case "order_cancelled":
      return orderEvent(type, stated, value);
    case "registration":
    case "login":
    case "logout":
    case "card_added":
    case "verify_start":
    case "verify_retry":
    case "verify_success":
      return userEvent(type, value);
    case "verify_failed":
      return verifyFailedEvent(value);
    case "otp_status":
      return otpStatusEvent(value);
    case "test":
      return testEvent(value);
    case null:
      return unrecognised(stated, `Unknown type: ${excerpt(stated)}`);
    default:
      return type satisfies never;
  }
}

type Json = Readonly<Record<string, unknown>>;

/** An event under construction: the fields of `T`, not yet read-only. */
type Draft<T> = { -readonly [Key in keyof T]: T[Key] };

function orderEvent(
  type: OrderEvent["type"],
  stated: string,
  value: Json,
): OrderEvent | UnrecognisedWebhook {
  const order = value.order;
  if (!isRecord(order)) {
    return unrecognised(
      stated,
      `The order of ${type} is ${nounOf(order)}, not an object`,
    );
  }
  const id = order.id;
  if (typeof id !== "string") {
    return unrecognised(
      stated,
      `The order.id of ${type} is ${nounOf(id)}, not a string`,
    );
  }
  if (id === "") {
    return unrecognised(stated, `The order.id of ${type} is empty`);
  }
  const event: Draft<OrderEvent> = {
    type,
    click_id: text(value.click_id),
    flavour: null,
    order: readOrder(id, order),
  };
  const session = value.hpp_session_id;
  const hasSession = typeof session === "string" && session !== "";
  if (hasSession) event.hpp_session_id = session;
  event.flavour = hasSession && event.order.partner_data === undefined
    ? "fiatOnramp"
    : "nftCheckout";
  const user = readUser(value.user);
  if (user !== undefined) event.user = user;
  return event;
}

function userEvent(type: UserEventType, value: Json): UserEvent {
  const event: Draft<UserEvent> = {
    type,
    click_id: text(value.click_id),
    flavour: null,
  };
  addSessionAndUser(event, value);
  return event;
}

function verifyFailedEvent(value: Json): VerifyFailedEvent {
  const event: Draft<VerifyFailedEvent> = {
    type: "verify_failed",
    click_id: text(value.click_id),
    flavour: null,
  };
  const reject = value.reject_type;
  if (typeof reject === "string" && reject !== "") event.reject_type = reject;
  addSessionAndUser(event, value);
  return event;
}

function addSessionAndUser(
  event: Draft<UserEvent> | Draft<VerifyFailedEvent>,
  value: Json,
): void {
  const session = value.hpp_session_id;
  const hasSession = typeof session === "string" && session !== "";
  if (hasSession) event.hpp_session_id = session;
  const user = readUser(value.user);
  if (user !== undefined) event.user = user;
  // The earlier form had neither, so it does not tell the flavours apart.
  if (hasSession) event.flavour = "fiatOnramp";
  else if (user !== undefined) event.flavour = "nftCheckout";
}

function otpStatusEvent(value: Json): OtpStatusEvent | UnrecognisedWebhook {
  const userId = value.user_id;
  const status = value.status;
  const reasons: string[] = [];
  if (typeof userId !== "string" || userId === "") {
    reasons.push(`The user_id of otp_status is ${nounOf(userId)}`);
  }
  if (typeof status !== "string" || status === "") {
    reasons.push(`The status of otp_status is ${nounOf(status)}`);
  }
  if (typeof userId !== "string" || typeof status !== "string" || reasons[0]) {
    return { type: "unrecognised", statedType: "otp_status", reasons };
  }
  const event: Draft<OtpStatusEvent> = {
    type: "otp_status",
    click_id: text(value.click_id),
    flavour: null,
    user_id: userId,
    status,
  };
  const country = value.phone_country_code;
  if (typeof country === "string") event.phone_country_code = country;
  const detail = value.status_detail;
  if (typeof detail === "string") event.status_detail = detail;
  return event;
}

function testEvent(value: Json): TestEvent {
  const event: Draft<TestEvent> = {
    type: "test",
    click_id: text(value.click_id),
    flavour: null,
  };
  const order = value.order;
  if (isRecord(order)) event.order = readOrder(text(order.id), order);
  return event;
}

function readOrder(id: string, value: Json): WebhookOrder {
  const order: Draft<WebhookOrder> = { id };
  const base = value.base;
  if (typeof base === "string") order.base = base;
  const baseAmount = value.base_amount;
  if (typeof baseAmount === "string") order.base_amount = baseAmount;
  const quote = value.quote;
  if (typeof quote === "string") order.quote = quote;
  const quoteAmount = value.quote_amount;
  if (typeof quoteAmount === "string") order.quote_amount = quoteAmount;
  const address = value.address;
  if (typeof address === "string") order.address = address;
  const transaction = value.transaction_id;
  if (typeof transaction === "string" || transaction === null) {
    order.transaction_id = transaction;
  }
  const externalId = value.external_order_id;
  if (typeof externalId === "string") order.external_order_id = externalId;
  const partnerData = value.partner_data;
  if (isRecord(partnerData)) order.partner_data = readPartnerData(partnerData);
  const errorCode = value.error_code;
  if (typeof errorCode === "string") order.error_code = errorCode;
  return order;
}

function readPartnerData(value: Json): PartnerData {
  return {
    sc_address: text(value.sc_address),
    sc_input_data: text(value.sc_input_data),
  };
}

function readUser(value: unknown): WebhookUser | undefined {
  if (!isRecord(value)) return undefined;
  const userId = value.user_id;
  if (typeof userId !== "string" || userId === "") return undefined;
  const status = value.verification_status;
  if (!isRecord(status)) return { user_id: userId };
  const states: { fkyc?: VerificationOf; lkyc?: VerificationOf } = {};
  const fkyc = readState(status.fkyc);
  if (fkyc !== undefined) states.fkyc = fkyc;
  const lkyc = readState(status.lkyc);
  if (lkyc !== undefined) states.lkyc = lkyc;
  return { user_id: userId, verification_status: states };
}

function readState(value: unknown): VerificationOf | undefined {
  if (!isRecord(value)) return undefined;
  const state = value.state;
  return typeof state === "string" ? { state } : undefined;
}

function unrecognised(
  statedType: string | null,
  reason: string,
): UnrecognisedWebhook {
  return { type: "unrecognised", statedType, reasons: [reason] };
}

function isRecord(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function excerpt(value: string): string {
  return value.length > 64 ? `${value.slice(0, 64)}…` : value;
}

function nounOf(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (value === "") return "empty";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

function hasNumericAmount(value: unknown): boolean {
  if (!isRecord(value) || !isRecord(value.order)) return false;
  return typeof value.order.base_amount === "number" ||
    typeof value.order.quote_amount === "number";
}

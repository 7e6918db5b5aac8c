import { isRecord } from "../guards.ts";
import { isLongText, LONGEST_IDENTIFIER } from "../wire/identifier.ts";
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
  WebhookOrder,
  WebhookUser,
} from "./webhook_event.ts";

/** Reads an event about an order. It needs an order with an id. */
export function orderEvent(
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
  if (id === "" || isLongText(id)) {
    return unrecognised(stated, `The order.id of ${type} is ${nounOf(id)}`);
  }
  const event: Draft<OrderEvent> = {
    type,
    click_id: identifierText(value.click_id),
    flavour: null,
    order: readOrder(id, order),
  };
  const session = identifierText(value.hpp_session_id);
  const hasSession = session !== "";
  if (hasSession) event.hpp_session_id = session;
  event.flavour = flavourOf(hasSession, event.order);
  const user = readUser(value.user);
  if (user !== undefined) event.user = user;
  return event;
}

/** An event with both signs, or with neither, does not tell its flavour. */
function flavourOf(
  hasSession: boolean,
  { partner_data }: WebhookOrder,
): OrderEvent["flavour"] {
  const hasPartnerData = partner_data !== undefined;
  if (hasSession === hasPartnerData) return null;
  return hasSession ? "fiatOnramp" : "nftCheckout";
}

/** Reads the event of the Test button. */
export function testEvent(value: Json): TestEvent {
  const event: Draft<TestEvent> = {
    type: "test",
    click_id: identifierText(value.click_id),
    flavour: null,
  };
  const order = value.order;
  if (isRecord(order)) event.order = readOrder(identifierText(order.id), order);
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
  if (typeof externalId === "string" && !isLongText(externalId)) {
    order.external_order_id = externalId;
  }
  const partnerData = value.partner_data;
  if (isRecord(partnerData)) order.partner_data = readPartnerData(partnerData);
  const errorCode = value.error_code;
  // A code of the service's error table may come as a number.
  if (typeof errorCode === "string" || typeof errorCode === "number") {
    order.error_code = String(errorCode);
  }
  return order;
}

function readPartnerData(value: Json): PartnerData {
  return {
    sc_address: text(value.sc_address),
    sc_input_data: text(value.sc_input_data),
  };
}

/** Reads an event about a user's profile, cards or verification. */
export function userEvent(type: UserEventType, value: Json): UserEvent {
  const event: Draft<UserEvent> = {
    type,
    click_id: identifierText(value.click_id),
    flavour: null,
  };
  addSessionAndUser(event, value);
  return event;
}

/** Reads a failed verification. */
export function verifyFailedEvent(value: Json): VerifyFailedEvent {
  const event: Draft<VerifyFailedEvent> = {
    type: "verify_failed",
    click_id: identifierText(value.click_id),
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
  const session = identifierText(value.hpp_session_id);
  const hasSession = session !== "";
  if (hasSession) event.hpp_session_id = session;
  const user = readUser(value.user);
  if (user !== undefined) event.user = user;
  // The earlier form had neither, so it does not tell the flavours apart.
  if (hasSession) event.flavour = "fiatOnramp";
  else if (user !== undefined) event.flavour = "nftCheckout";
}

/** Reads the user object; undefined when it has no id. */
export function readUser(value: unknown): WebhookUser | undefined {
  if (!isRecord(value)) return undefined;
  const userId = identifierText(value.user_id);
  if (userId === "") return undefined;
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

/** Reads a step of sending a one-time code. It needs a user and a status. */
export function otpStatusEvent(
  value: Json,
): OtpStatusEvent | UnrecognisedWebhook {
  const userId = value.user_id;
  const status = value.status;
  const reasons: string[] = [];
  if (typeof userId !== "string" || userId === "" || isLongText(userId)) {
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
    click_id: identifierText(value.click_id),
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

/** A JSON object. */
export type Json = Readonly<Record<string, unknown>>;

/** `T` while it is built: its fields can still be set. */
export type Draft<T> = { -readonly [Key in keyof T]: T[Key] };

/** A webhook that is none of the documented events, for one reason. */
export function unrecognised(
  statedType: string | null,
  reason: string,
): UnrecognisedWebhook {
  return { type: "unrecognised", statedType, reasons: [reason] };
}

/** The text of a field; empty when it has none. */
export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A text that can identify something; empty when it is too long for that. */
function identifierText(value: unknown): string {
  return isLongText(value) ? "" : text(value);
}

/** The beginning of a long text. */
export function excerpt(value: string): string {
  return value.length > 64 ? `${value.slice(0, 64)}…` : value;
}

/** What a value is, for a sentence. */
export function nounOf(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (value === "") return "empty";
  if (isLongText(value)) return `longer than ${LONGEST_IDENTIFIER} bytes`;
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

import { isOneOf } from "../guards.ts";
import type { VerificationStatus } from "../wire/objects.ts";

/** One of the 15 documented event types. */
export type WebhookType = WebhookEvent["type"];

/**
 * The 15 documented event types, each with what it says, in one sentence.
 *
 * Source: service interface, "Events".
 */
export const WEBHOOK_TYPES: Readonly<Record<WebhookType, string>> = Object
  .freeze({
    registration: "A new user created a profile",
    login: "An existing user logged in",
    logout: "An existing user logged out",
    card_added: "A user added a bank card",
    verify_start: "A user started verification",
    verify_retry: "A user must upload documents again",
    verify_failed: "A verification failed",
    verify_success: "A user passed verification",
    payment_started: "A payment request was sent to the acquirer",
    transfer_started: "The transfer has one block confirmation",
    order_complete: "An order reached the status success",
    order_failed: "An order reached the status failed",
    order_cancelled: "An order reached the status cancelled",
    otp_status: "A step of sending a one-time code",
    test: "The Test button of the dashboard was pressed",
  });

/**
 * Reads a stated `type` as a documented one.
 *
 * Two spellings beyond the documented ones are the same events:
 * `order_canceled` is `order_cancelled`, and `new_card_added`, the name in
 * older documentation, is `card_added`.
 *
 * @param stated The `type` a body states.
 * @returns The documented type, or null when it is none.
 *
 * @example A cancelled order, in the spelling most often seen
 * ```ts
 * import { webhookType } from "@rampkit/onramp/webhooks";
 * import assert from "node:assert/strict";
 *
 * assert.equal(webhookType("order_canceled"), "order_cancelled");
 * assert.equal(webhookType("coffee_brewed"), null);
 * ```
 */
export function webhookType(stated: string): WebhookType | null {
  if (Object.hasOwn(WEBHOOK_TYPES, stated)) return stated as WebhookType;
  if (stated === "order_canceled") return "order_cancelled";
  if (stated === "new_card_added") return "card_added";
  return null;
}

export type { VerificationStatus as VerificationState };

/** A value from an open list: those named here, or one not known yet. */
export type Open<Known extends string> =
  | Known
  | (string & Record<never, never>);

/** State of one kind of verification. */
export interface VerificationOf {
  /** The state as sent. */
  readonly state: VerificationStatus;
}

/** The user object of a webhook. Source: "Events", user object. */
export interface WebhookUser {
  /** User identifier. */
  readonly user_id: string;
  /** Document (`fkyc`) and light (`lkyc`) verification. */
  readonly verification_status?: {
    /** Document verification. */
    readonly fkyc?: VerificationOf;
    /** Light verification. */
    readonly lkyc?: VerificationOf;
  };
}

/** What an NFT Checkout order carries. */
export interface PartnerData {
  /** Address of the smart contract. */
  readonly sc_address: string;
  /** Input data of the call. */
  readonly sc_input_data: string;
}

/** The order object of a webhook; amounts are decimal strings. */
export interface WebhookOrder {
  /** Order identifier; empty in the test event. */
  readonly id: string;
  /** Asset code. */
  readonly base?: string;
  /** Amount of the asset, a decimal string. */
  readonly base_amount?: string;
  /** Fiat code. */
  readonly quote?: string;
  /** Amount in fiat, a decimal string. */
  readonly quote_amount?: string;
  /** Address the asset goes to. */
  readonly address?: string;
  /** Transaction hash, or null while there is none. */
  readonly transaction_id?: string | null;
  /** Short identifier shown to people; absent in the test event. */
  readonly external_order_id?: string;
  /** NFT Checkout only. */
  readonly partner_data?: PartnerData;
  /** `order_failed` only: a text or a code, to be shown and not matched. */
  readonly error_code?: string;
}

/** What every event carries. */
export interface EventBase {
  /** Click id of the widget session; may be empty. */
  readonly click_id: string;
  /**
   * `fiatOnramp` with `hpp_session_id`; `nftCheckout` for an order with
   * `partner_data`, and for a user event without a session. Null where the
   * event has one form only, where an order has both signs or neither, and in
   * the earlier form of user events, which had neither session nor user.
   */
  readonly flavour: "fiatOnramp" | "nftCheckout" | null;
  /** Session of the widget: a Fiat OnRamp event has one. */
  readonly hpp_session_id?: string;
}

/** The types of user events; a failed verification has a form of its own. */
export const USER_EVENT_TYPES = [
  "registration",
  "login",
  "logout",
  "card_added",
  "verify_start",
  "verify_retry",
  "verify_success",
] as const;

/** Type of a user event. */
export type UserEventType = (typeof USER_EVENT_TYPES)[number];

/** A user event. The earlier form had no user object. */
export interface UserEvent extends EventBase {
  /** Type of the event. */
  readonly type: UserEventType;
  /** The user; absent in the earlier form. */
  readonly user?: WebhookUser;
}

/** A documented reason of a failed verification. */
export type KnownRejectType =
  | `${"LKYC" | "FKYC"}_FAILED_${
    | "AGE"
    | "UNSUPPORTED_COUNTRY"
    | "UNSUPPORTED_STATE"
    | "DUPLICATE"
    | "GENERAL"}`
  | "FKYC_FAILED_SPAM";

/** Why a verification was rejected. Source: `reject_type` values. */
export type RejectType = Open<KnownRejectType>;

/** A verification failed. */
export interface VerifyFailedEvent extends EventBase {
  /** Type of the event. */
  readonly type: "verify_failed";
  /** Why; absent in the earlier form. */
  readonly reject_type?: RejectType;
  /** The user; absent in the earlier form. */
  readonly user?: WebhookUser;
}

/** The types of order events. */
export const ORDER_EVENT_TYPES = [
  "payment_started",
  "transfer_started",
  "order_complete",
  "order_failed",
  "order_cancelled",
] as const;

/** Type of an order event. `order_canceled` is read as `order_cancelled`. */
export type OrderEventType = (typeof ORDER_EVENT_TYPES)[number];

/** An order event. */
export interface OrderEvent extends EventBase {
  /** Type of the event. */
  readonly type: OrderEventType;
  /** The order; its id is never empty here. */
  readonly order: WebhookOrder;
  /** The user, where one is named. */
  readonly user?: WebhookUser;
}

/** The Test button of the dashboard was pressed. */
export interface TestEvent extends EventBase {
  /** Type of the event. */
  readonly type: "test";
  /** An order with an empty id. */
  readonly order?: WebhookOrder;
}

/** A step of sending a one-time code. */
export interface OtpStatusEvent extends EventBase {
  /** Type of the event. */
  readonly type: "otp_status";
  /** User identifier. */
  readonly user_id: string;
  /** The step. */
  readonly status: Open<"requested" | "success" | "failed">;
  /** ISO alpha-2; absent when the phone's country is not known. */
  readonly phone_country_code?: string;
  /** On failure: a reason for people, not to be matched. */
  readonly status_detail?: string;
}

/** One of the 15 documented events. */
export type WebhookEvent =
  | UserEvent
  | VerifyFailedEvent
  | OrderEvent
  | TestEvent
  | OtpStatusEvent;

/** A well-formed object that is not one of the documented events. */
export interface UnrecognisedWebhook {
  /** Marks an event type that was not recognised. */
  readonly type: "unrecognised";
  /** The `type` the body states, or null. */
  readonly statedType: string | null;
  /** Every reason why it was not recognised; never empty. */
  readonly reasons: readonly string[];
}

/** What `parseWebhook` returns: an event, or the reasons why it is none. */
export type ParsedWebhook = WebhookEvent | UnrecognisedWebhook;

/** Whether a webhook is one of the 15 documented events. */
export function isRecognised(webhook: ParsedWebhook): webhook is WebhookEvent {
  return webhook.type !== "unrecognised";
}

/** Whether a webhook is about a user's profile, cards or verification. */
export function isUserEvent(
  webhook: ParsedWebhook,
): webhook is UserEvent | VerifyFailedEvent {
  return webhook.type === "verify_failed" ||
    isOneOf(USER_EVENT_TYPES, webhook.type);
}

/** Whether a webhook reports a failed verification. */
export function isVerifyFailedEvent(
  webhook: ParsedWebhook,
): webhook is VerifyFailedEvent {
  return webhook.type === "verify_failed";
}

/** Whether a webhook is a step of sending a one-time code. */
export function isOtpStatusEvent(
  webhook: ParsedWebhook,
): webhook is OtpStatusEvent {
  return webhook.type === "otp_status";
}

/** Whether somebody pressed the Test button of the dashboard. */
export function isTestEvent(webhook: ParsedWebhook): webhook is TestEvent {
  return webhook.type === "test";
}

/**
 * Whether a webhook is about an order; the test event is not.
 *
 * @param webhook A parsed webhook.
 * @returns True for the five order events, whose order id is never empty.
 *
 * @example Which order to look up
 * ```ts
 * import { isOrderEvent, parseWebhook } from "@rampkit/onramp/webhooks";
 * import assert from "node:assert/strict";
 *
 * const webhook = parseWebhook(
 *   `{"type":"order_complete","click_id":"","order":{"id":"01HX"}}`,
 * );
 * assert(isOrderEvent(webhook));
 * assert.equal(webhook.order.id, "01HX");
 * ```
 */
export function isOrderEvent(webhook: ParsedWebhook): webhook is OrderEvent {
  return isOneOf(ORDER_EVENT_TYPES, webhook.type);
}

/**
 * The documented reasons of a failed verification, each with its meaning.
 * `LKYC` is the light verification, `FKYC` the one with documents.
 *
 * Source: service interface, "Events", `reject_type` values.
 */
export const REJECT_TYPES: Readonly<
  Record<KnownRejectType, string>
> = Object.freeze({
  LKYC_FAILED_AGE: "The age requirement is not met (light verification)",
  FKYC_FAILED_AGE: "The age requirement is not met (document verification)",
  LKYC_FAILED_UNSUPPORTED_COUNTRY:
    "The country is not supported (light verification)",
  FKYC_FAILED_UNSUPPORTED_COUNTRY:
    "The country is not supported (document verification)",
  LKYC_FAILED_UNSUPPORTED_STATE:
    "The state or region is not supported (light verification)",
  FKYC_FAILED_UNSUPPORTED_STATE:
    "The state or region is not supported (document verification)",
  LKYC_FAILED_DUPLICATE: "A record already exists (light verification)",
  FKYC_FAILED_DUPLICATE: "A record already exists (document verification)",
  LKYC_FAILED_GENERAL: "The light verification failed without a named reason",
  FKYC_FAILED_GENERAL:
    "The document verification failed without a named reason",
  FKYC_FAILED_SPAM: "The document verification was flagged as spam or fraud",
});

/**
 * Says what a `reject_type` means.
 *
 * @param code The value of a `verify_failed` event; the list is open.
 * @returns One sentence for people, or null for a value not known here.
 *
 * @example What to tell the user
 * ```ts
 * import { describeRejectType } from "@rampkit/onramp/webhooks";
 * import assert from "node:assert/strict";
 *
 * assert.match(String(describeRejectType("LKYC_FAILED_AGE")), /age/);
 * assert.equal(describeRejectType("FKYC_FAILED_MOOD"), null);
 * ```
 */
export function describeRejectType(code: RejectType): string | null {
  return Object.hasOwn(REJECT_TYPES, code)
    ? REJECT_TYPES[code as KnownRejectType]
    : null;
}

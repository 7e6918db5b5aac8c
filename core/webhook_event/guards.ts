import { isOneOf } from "../guards.ts";
import {
  ORDER_EVENT_TYPES,
  type OrderEvent,
  type OtpStatusEvent,
  type TestEvent,
  type UnrecognisedWebhook,
  USER_EVENT_TYPES,
  type UserEvent,
  type VerifyFailedEvent,
  type WebhookEvent,
} from "./webhook_event.ts";

/**
 * What {@linkcode parseWebhook} returns: an event, or the reasons why it is
 * none.
 */
export type ParsedWebhook = WebhookEvent | UnrecognisedWebhook;

/**
 * Whether a webhook is one of the 15 documented events.
 *
 * @param webhook A parsed webhook.
 * @returns False for an event that was not recognised.
 */
export function isRecognised(webhook: ParsedWebhook): webhook is WebhookEvent {
  return webhook.type !== "unrecognised";
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
 * Whether a webhook is about a user's profile, cards or verification.
 *
 * @param webhook A parsed webhook.
 * @returns True for the eight user events, `verify_failed` among them.
 */
export function isUserEvent(
  webhook: ParsedWebhook,
): webhook is UserEvent | VerifyFailedEvent {
  return webhook.type === "verify_failed" ||
    isOneOf(USER_EVENT_TYPES, webhook.type);
}

/**
 * Whether a webhook reports a failed verification.
 *
 * @param webhook A parsed webhook.
 * @returns True for `verify_failed`, which may carry a `reject_type`.
 */
export function isVerifyFailedEvent(
  webhook: ParsedWebhook,
): webhook is VerifyFailedEvent {
  return webhook.type === "verify_failed";
}

/**
 * Whether a webhook is a step of sending a one-time code.
 *
 * @param webhook A parsed webhook.
 * @returns True for `otp_status`.
 */
export function isOtpStatusEvent(
  webhook: ParsedWebhook,
): webhook is OtpStatusEvent {
  return webhook.type === "otp_status";
}

/**
 * Whether somebody pressed the Test button of the dashboard.
 *
 * @param webhook A parsed webhook.
 * @returns True for `test`, whose order has an empty id.
 */
export function isTestEvent(webhook: ParsedWebhook): webhook is TestEvent {
  return webhook.type === "test";
}

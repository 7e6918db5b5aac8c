import type { WebhookEvent } from "./webhook_event.ts";

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

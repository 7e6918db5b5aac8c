/**
 * Hears the service: takes the webhooks it delivers without losing one, and
 * reads what they say.
 *
 * The service's webhooks are unsigned, carry no id and no time, and are
 * switched off when they are not answered with a 2xx within five seconds. So
 * {@linkcode webhookEndpoint} answers 204 as soon as the exact bytes of a body
 * are safe, in the ledger or in a {@linkcode fileSpool}, and looks at nothing
 * but the secret in the path. What a body says is read afterwards, by
 * {@linkcode parseWebhook}, which gives one of the 15 documented events, or
 * the reasons why it is none of them. A webhook is a claim: the Data API
 * confirms it.
 *
 * @example Read a webhook
 * ```ts
 * import { isOrderEvent, parseWebhook } from "@rampkit/onramp/webhooks";
 * import assert from "node:assert/strict";
 *
 * const webhook = parseWebhook(`{
 *   "type": "order_complete",
 *   "click_id": "basket-7",
 *   "order": { "id": "01JD3Q5XK6T0V0QK3WZ5R5Q0ZV", "quote_amount": "12.30" }
 * }`);
 * assert(isOrderEvent(webhook));
 * assert.equal(webhook.order.quote_amount, "12.30");
 * ```
 *
 * @module
 */
export * from "./delivery.ts";
export * from "./endpoint.ts";
export * from "./endpoint_options.ts";
export * from "./errors.ts";
export * from "./event.ts";
export * from "./event_types.ts";
export * from "./file_spool.ts";
export * from "./guards.ts";
export * from "./log.ts";
export * from "./parse_webhook.ts";
export * from "./reject_type.ts";
export * from "./spool.ts";

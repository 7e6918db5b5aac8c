/**
 * Receives the service's webhooks without losing one, and reads them.
 *
 * The service's webhooks are unsigned, carry no id and no time, and are
 * switched off when they are not answered with a 2xx within five seconds. So
 * {@linkcode webhookEndpoint} answers 204 as soon as the exact bytes of a body
 * are stored, in a {@linkcode fileSpool} or in the ledger, and checks only the
 * secret in the path. A {@linkcode spoolMover} moves them from the spool to the
 * ledger. {@linkcode parseWebhook} reads a body afterwards: it returns
 * one of the 15 documented events, or the reasons why it is not one of them. A webhook is a claim: the Data API
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
export type * from "../core/telemetry/meter.ts";
export type {
  BodyClasses,
  OddBody,
} from "../core/webhook_event/classify_body.ts";
export * from "../core/wire/objects.ts";
export * from "./endpoint_options.ts";
export * from "./endpoint.ts";
export * from "./spool.ts";
export * from "../core/webhook_event/webhook_event.ts";
export * from "../core/webhook_event/webhook_event.ts";
export { fileSpool, type FileSpoolOptions } from "./inbox.ts";
export type {
  WebhookLog,
  WebhookLogCode,
  WebhookLogEntry,
} from "./endpoint_log.ts";
export * from "../core/webhook_event/parse_webhook.ts";
export {
  proxiedAddress,
  type ProxiedAddressOptions,
} from "./proxied_address.ts";
export {
  type ReportWaiting,
  type SpoolMover,
  spoolMover,
  type SpoolMoverOptions,
  type Waiting,
} from "./spool_mover.ts";
export type { NoRoom } from "./body_room.ts";

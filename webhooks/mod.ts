/**
 * Hears the service: reads webhooks, and takes deliveries without losing one.
 *
 * @example Read a webhook
 * ```ts
 * import { parseWebhook } from "@rampkit/onramp/webhooks";
 * import assert from "node:assert/strict";
 *
 * const event = parseWebhook(`{"type":"login","click_id":"c-1"}`);
 * assert.equal(event.type, "login");
 * ```
 *
 * @module
 */
export * from "./delivery.ts";
export * from "./event.ts";
export * from "./event_types.ts";
export * from "./guards.ts";
export * from "./parse_webhook.ts";
export * from "./reject_type.ts";

/**
 * Rampkit: what became of every onramp order.
 *
 * This entry point holds the parts that run anywhere: the client of the partner
 * API and the webhook endpoint. The ledger, the widget options, the sandbox and
 * the command line have entry points of their own, so that you need no database
 * to parse a webhook.
 *
 * @example Read a webhook
 * ```ts
 * import { parseWebhook } from "@rampkit/onramp";
 * import assert from "node:assert/strict";
 *
 * const event = parseWebhook(`{"type":"login","click_id":"c-1"}`);
 * assert.equal(event.type, "login");
 * ```
 *
 * @module
 */
export * from "./client/mod.ts";
export * from "./webhooks/mod.ts";

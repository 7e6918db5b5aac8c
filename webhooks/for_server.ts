/**
 * What running an endpoint needs besides the public entry point, without a
 * disk: Deno Deploy loads it.
 *
 * @module
 */
export { allowlist } from "./endpoint/proxied_address.ts";
export { BodyReport } from "./endpoint/body_report.ts";
export { type WebhookEndpoint, webhookEndpoint } from "./endpoint/endpoint.ts";
export type { UntimedLogEntry } from "./endpoint/endpoint_log.ts";
export type {
  ConnectionInfo,
  WebhookEndpointOptions,
} from "./endpoint/endpoint_options.ts";
export type { WebhookLogCode } from "./endpoint/endpoint_log.ts";
export type { RefusalReason } from "./endpoint/refusal.ts";
export type { Spool } from "./spool/spool.ts";
export { spoolMover } from "./spool/spool_mover.ts";
export { SMALL_BODY_BYTES } from "./endpoint/body_room.ts";

/**
 * What running needs of polling and watchdog. Deno Deploy loads it, and nothing of
 * reconciliation.
 *
 * @module
 */
export type { KeptDrift } from "./drift/drift.ts";
export { lookForDrift } from "./drift/drift.ts";
export type { PollHealth } from "./polling/poll_health.ts";
export type { Poller } from "./polling/poller_options.ts";
export { createPoller } from "./polling/poller.ts";
export type { PollerOptions } from "./polling/poller_options.ts";
export { POLLER_DEFAULTS } from "./polling/poller_options.ts";
export type { DeliveryAlert } from "./watchdog/watchdog_rule.ts";
export { addRefusedRequests } from "./watchdog/refused_requests.ts";
export {
  RETRIES_FROM_FIRST_MS,
  RETRIES_FROM_PREVIOUS_MS,
} from "./watchdog/watchdog_rule.ts";
export type { DeliveryHealth } from "./watchdog/watchdog_rule.ts";

/**
 * What running needs of polling and watchdog. Deno Deploy loads it, and nothing of
 * reconciliation.
 *
 * @module
 */
export { POLLER_DEFAULTS } from "./polling/sweep_context.ts";
export { type KeptDrift, lookForDrift } from "./drift/drift.ts";
export type { PollHealth } from "./polling/poll_health.ts";
export { type Poller, type PollerOptions } from "./polling/poller_options.ts";
export { createPoller } from "./polling/poller.ts";
export {
  type DeliveryAlert,
  type DeliveryHealth,
  RETRIES_FROM_FIRST_MS,
  RETRIES_FROM_PREVIOUS_MS,
} from "./watchdog/watchdog_rule.ts";
export { addRefusedRequests } from "./watchdog/refused_requests.ts";

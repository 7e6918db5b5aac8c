/**
 * What showing needs of polling, reconciliation and watchdog.
 *
 * @module
 */
export { type DriftMet, isOfWebhooks, readDrift } from "./drift/drift.ts";
export {
  lastAnsweredAt,
  pollAlarm,
  type PollAlert,
  type PollFailureCause,
  pollFailureCause,
  readPollHealth,
  type SweepFailure,
} from "./polling/poll_health.ts";
export {
  type PollStatus,
  readPollBacklog,
  readPollStatus,
} from "./polling/poll_status.ts";
export { requestOrder } from "../ledger/for_sync.ts";
export { CONTRADICTED_AFTER_MS } from "./recording/readings.ts";
export { readRefusedRequests } from "./watchdog/refused_requests.ts";
export type {
  DeliveryHealth,
  RetryCountdown,
} from "./watchdog/watchdog_rule.ts";
export { watchdog } from "./watchdog/watchdog.ts";

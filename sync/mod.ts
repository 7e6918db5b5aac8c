/**
 * Asks the service and compares: the poller and its sweeps, reconciliation,
 * recovery of a window, and the watchdog of deliveries.
 *
 * @module
 */
export {
  type Freshness,
  type FreshnessTier,
  readFreshness,
  type UnboundedReason,
} from "./polling/freshness.ts";
export type { PollClient } from "./walk/poll_client.ts";
export { PollError } from "./recording/recorder.ts";
export { readPollHealth } from "./polling/poll_health.ts";
export type { PollHealth } from "./polling/poll_health.ts";
export type { Poller, PollReport } from "./polling/poller_options.ts";
export { createPoller } from "./polling/poller.ts";
export type { PollerOptions } from "./polling/poller_options.ts";
export { reconcile } from "./reconciliation/reconcile.ts";
export type { ReconcileFinding } from "./reconciliation/reconcile_row.ts";
export type { UnprovenReason } from "./reconciliation/reconcile_row.ts";
export type { ReconcileRow } from "./reconciliation/reconcile_row.ts";
export type {
  ReconcileOptions,
  ReconcileReport,
} from "./reconciliation/reconcile_row.ts";
export type { BesidePollerOptions } from "./reconciliation/recover.ts";
export { readOrders } from "./reconciliation/recover.ts";
export {
  recover,
  type RecoverOptions,
  type RecoverReport,
} from "./reconciliation/recover.ts";
export { watchdog, type WatchdogCheck } from "./watchdog/watchdog.ts";
export type { DeliveryHealth } from "./watchdog/watchdog_rule.ts";
// Types inside of these
export type { SWEEP_KINDS, SweepKind } from "./polling/fair_share.ts";
export type { PollAlert } from "./polling/poll_health.ts";
export type {
  PollFailureCause,
  PollPart,
  SweepFailure,
} from "./polling/poll_health.ts";
export type { PollLedger, ReconcileLedger } from "./polling/poller_options.ts";
export type { PollCompleted, PollSkipped } from "./polling/poller_options.ts";
export type {
  BackfillStatement,
  Backlog,
  PollStatus,
} from "./polling/poll_status.ts";
export type { PollProgress } from "./polling/poller_options.ts";
export type { StalenessBound, WorkCounts } from "./polling/poll_status.ts";
export {
  type FieldDifference,
  type OnChain,
  RECONCILE_CATEGORIES,
  RECONCILE_FLAGS,
  type ReconcileCategory,
  type ReconcileFlag,
} from "./reconciliation/reconcile_row.ts";
export type * from "../core/wire/queries.ts";
export type { PollErrorCode } from "./recording/recorder.ts";
export type { SweepRead } from "./recording/recorder.ts";
export type { PollWalk, PollWalkOptions } from "./walk/poll_client.ts";
export type { DeliveryAlarm, DeliveryAlert } from "./watchdog/watchdog_rule.ts";
export type { RetryCountdown } from "./watchdog/watchdog_rule.ts";
export type { DeliveryState } from "./watchdog/watchdog_rule.ts";

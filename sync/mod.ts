/**
 * Asks the service and compares: the poller and its sweeps, reconciliation,
 * recovery of a window, and the watchdog of deliveries.
 *
 * @module
 */
export type {
  PollClient,
  PollList,
  PollWalk,
  PollWalkOptions,
} from "./walk/walk.ts";
export {
  PollError,
  type PollErrorCode,
  type SweepRead,
} from "./recording/recorder.ts";
export {
  type PollAlert,
  type PollFailureCause,
  type PollHealth,
  type PollPart,
  readPollHealth,
  type SweepFailure,
} from "./polling/poll_health.ts";
export * from "./polling/poller.ts";
export * from "./reconciliation/reconcile.ts";
export {
  type FieldDifference,
  type OnChain,
  RECONCILE_CATEGORIES,
  RECONCILE_FLAGS,
  type ReconcileCategory,
  type ReconcileFinding,
  type ReconcileFlag,
  type ReconcileRow,
  type UnprovenReason,
} from "./reconciliation/reconcile_order.ts";
export * from "./reconciliation/recover.ts";
export { watchdog, type WatchdogCheck } from "./watchdog/watchdog.ts";
export type {
  DeliveryAlarm,
  DeliveryAlert,
  DeliveryHealth,
  DeliveryState,
  RetryCountdown,
} from "./watchdog/watchdog_rule.ts";
export type { SWEEP_KINDS, SweepKind } from "./polling/fair_share.ts";
export {
  type BackfillStatement,
  type Backlog,
  type Freshness,
  type FreshnessDoubt,
  type FreshnessTier,
  type PollLag,
  type PollStatus,
  readFreshness,
  type WorkCounts,
} from "./polling/poll_status.ts";
export type * from "../core/wire/objects.ts";

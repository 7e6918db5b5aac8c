/**
 * Reading the Data API into the ledger, and holding the two against each
 * other: a webhook can be lost, late or forged, so what the service says when
 * it is asked is what counts.
 *
 * - {@linkcode createPoller}: four sweeps under one rate, one poller a ledger.
 * - {@linkcode watchdog}: whether webhook delivery is off.
 * - {@linkcode recover}: reads everything again after an outage.
 * - {@linkcode reconcile}: compares service and ledger, and changes nothing.
 *
 * @example Poll once, then compare
 * ```ts
 * import { createPoller, openLedger, reconcile } from "@rampkit/onramp/ledger";
 * import { OnrampClient } from "@rampkit/onramp/client";
 * import { createSandbox } from "@rampkit/onramp/sandbox";
 * import assert from "node:assert/strict";
 *
 * await using sandbox = createSandbox();
 * sandbox.createOrder();
 * const client = new OnrampClient({
 *   environment: "sandbox",
 *   apiKey: sandbox.apiKey,
 *   fetch: (input, init) => sandbox.fetch(new Request(input, init)),
 *   requestsPerSecond: 1000,
 * });
 * await using ledger = await openLedger({
 *   url: ":memory:",
 *   environment: "sandbox",
 * });
 *
 * const report = await createPoller({ ledger, client }).once();
 * assert.equal(report.ran, true);
 * const { disagreements } = await reconcile({ ledger, client });
 * assert.equal(disagreements, 0);
 * ```
 *
 * @module
 */
export { DEFAULT_PERIODS, DEFAULT_RULES } from "./_settings.ts";
export type { PollClient, PollWalk, PollWalkOptions } from "./poll_client.ts";
export { PollError, type PollErrorCode } from "./poll_error.ts";
export type { PollLedger, ReconcileLedger } from "./poll_ledger.ts";
export {
  type BackfillStatement,
  type PollStatus,
  readPollStatus,
} from "./poll_status.ts";
export { createPoller } from "./poller.ts";
export type { Poller, PollHeld, PollRan, PollReport } from "./poll_report.ts";
export type { PollerOptions, PollProgress } from "./poller_options.ts";
export { type BudgetRules, type Lane, LANES } from "./rate_budget.ts";
export { reconcile } from "./reconcile.ts";
export type { ReconcileOptions, ReconcileReport } from "./reconcile_report.ts";
export {
  type FieldDifference,
  RECONCILE_CATEGORIES,
  RECONCILE_FLAGS,
  type ReconcileCategory,
  type ReconcileFlag,
  type ReconcileRow,
} from "./reconcile_order.ts";
export { recover, type RecoverOptions, type RecoverReport } from "./recover.ts";
export {
  type StalenessBound,
  stalenessBound,
  type SweepPeriods,
  type WorkCounts,
} from "./staleness.ts";
export type { SweepRead } from "./sweep.ts";
export { watchdog, type WatchdogLook } from "./watchdog.ts";
export {
  type DeliveryHealth,
  deliveryHealth,
  type DeliveryState,
  GRACE_MS,
  LADDER_FROM_FIRST_MS,
  LADDER_FROM_PREVIOUS_MS,
  type LadderCountdown,
  ladderCountdown,
  type WatchedFacts,
  type WatchedMove,
} from "./watchdog_rule.ts";

/**
 * The ledger: an append-only log of everything the service said, and the
 * state of each order and user that follows from it.
 *
 * - **Open**: {@linkcode openLedger} opens a file, a server, or memory.
 * - **Append**: {@linkcode Ledger.appendDelivery} stores a webhook delivery as
 *   it came, {@linkcode Ledger.recordSession} a widget session of yours.
 * - **Project**: {@linkcode Ledger.project} folds new events into states. The
 *   result is the same in any order of arrival and with any repeats.
 * - **Query**: `ledger.orders` and `ledger.users` read states,
 *   {@linkcode Ledger.explain} tells which event each field comes from.
 * - **Months**: {@linkcode Months.close} closes the books of a month, which
 *   never change again; {@linkcode Months.recompute} tells what did since.
 * - **Subscribe**: {@linkcode Ledger.subscribe} calls a handler for each change
 *   of status, at least once.
 * - **Poll**: {@linkcode createPoller} reads the Data API. A webhook _claims_ a
 *   status, a reading of the Data API _confirms_ it.
 *   {@linkcode reconcile} compares service and ledger, {@linkcode recover} reads
 *   everything again after an outage, {@linkcode watchdog} tells whether webhook
 *   delivery works.
 * - **Evidence**: {@linkcode Ledger.verify} computes the hash chain of all
 *   events again, {@linkcode Ledger.verifyStates} all states.
 *
 * What only tools and tests need is in `@rampkit/onramp/ledger/internals`.
 *
 * @example Open, append, subscribe, project, query
 * ```ts
 * import { openLedger } from "@rampkit/onramp/ledger";
 * import assert from "node:assert/strict";
 *
 * await using ledger = await openLedger({
 *   url: ":memory:",
 *   environment: "sandbox",
 * });
 * const seen: string[] = [];
 * const subscription = await ledger.subscribe(
 *   "print",
 *   { on: "order.*.success", start: false },
 *   ({ key }) => {
 *     seen.push(key);
 *   },
 * );
 * await ledger.appendDelivery({
 *   id: "01KA0000000000000000000000",
 *   receivedAt: "2026-11-20T09:00:00.000Z",
 *   body: new TextEncoder().encode(JSON.stringify({
 *     type: "order_complete",
 *     click_id: "basket-7",
 *     order: { id: "01KA0000000000000000000ABC" },
 *   })),
 * });
 * await ledger.project();
 *
 * const [order] = await ledger.orders.find("basket-7");
 * assert.equal(order?.status, "success");
 * assert.equal(order?.trust, "claimed");
 * await subscription.dispatch();
 * assert.deepEqual(seen, ["order:01KA0000000000000000000ABC:claimed.success"]);
 * ```
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
// Open
export type { AssetTable } from "../core/assets/environment.ts";
export type {
  BodyClasses,
  OddBody,
} from "../core/webhook_event/body_classes.ts";
export { Ledger } from "./ledger.ts";
export {
  type ClientLedgerOptions,
  openLedger,
  type OpenLedgerOptions,
} from "./open_ledger.ts";
export type { OpenClientOptions } from "./store/driver/client/open_client.ts";
export type {
  ClientResult,
  ClientStatement,
  LedgerClient,
} from "./store/driver/client/ledger_client.ts";
export { LedgerError, type LedgerErrorCode } from "./store/driver/errors.ts";

// Append
export type {
  AppendDelivery,
  Delivery,
  UnansweredDelivery,
} from "../core/wire/delivery.ts";
export type { NewEvent, SessionCreatedBody } from "./events/event.ts";

// Project
export type { CatchUpOptions, Projection, Stats } from "./ledger_parts.ts";
export type { WaitingDeliveries } from "./queries/waiting_deliveries.ts";
export type { Refold, RefoldOptions } from "./refold/refold.ts";
export type { Import } from "./transfer/import_events.ts";

// Query
export type { Explanation } from "./explain/explanation.ts";
export type { Occurrence } from "./explain/occurrences.ts";
export type { AttentionKind } from "./attention/attention.ts";
export type { Anomaly, AnomalyKind } from "./anomalies/anomaly.ts";
export type { OrderReason } from "./orders/order_reason.ts";
export type { OrderState, Release } from "./orders/order_state.ts";
export type { Status, Trust } from "./orders/status.ts";
export {
  type OrderVerdict,
  type UnsentOrder,
  verdictOf,
} from "./orders/verdict.ts";
export {
  type DeliveryQuery,
  listDeliveries,
  readDelivery,
  type StoredDelivery,
} from "./queries/deliveries.ts";
export type { AttentionItem } from "./queries/attention.ts";
export {
  type Freshness,
  type FreshnessTier,
  type FreshnessUnbound,
  readFreshness,
} from "./queries/freshness.ts";
export type { FindResult, Found, FoundAs, FoundMatch } from "./queries/find.ts";
export type { AsOf } from "./queries/orders_at.ts";
export {
  type OrderPage,
  type OrderQuery,
  Orders,
  type OrderView,
} from "./queries/orders.ts";
export {
  type UserPage,
  type UserQuery,
  Users,
  type UserView,
} from "./queries/users.ts";
export {
  type UserVerdict,
  userVerdictOf,
  type VerificationKind,
} from "./users/user_verdict.ts";
export type { NextStep } from "./users/next_step.ts";
export type { UserReason, UserState } from "./users/user_state.ts";

// Months
export type { CloseMonthOptions, MonthClosing } from "./months/close_month.ts";
export type { MonthClose } from "./months/month_close.ts";
export { Months } from "./months/months.ts";
export type { PreviewMonthOptions } from "./months/months_preview.ts";
export type { MonthRecomputation } from "./months/recompute_month.ts";

// Subscribe
export type {
  MachineName,
  Transition,
  VisibleStatus,
} from "./projection/transition.ts";
export {
  type TransitionPattern,
  unlisted,
  type UnlistedPattern,
} from "./subscriptions/pattern.ts";
export type { ForwardTarget } from "./store/tables/subscriptions/forward_targets.ts";
export type { QueuedTransition } from "./store/tables/subscriptions/queued_transitions.ts";
export { Subscription } from "./subscriptions/subscription.ts";
export type {
  SubscribeOptions,
  TransitionHandler,
} from "./subscriptions/subscription_options.ts";
export {
  Subscriptions,
  type SubscriptionStatus,
} from "./subscriptions/subscriptions.ts";
export type { TransitionQuery } from "./store/tables/transitions.ts";

// Poll
export type { PollClient } from "./polling/poll_client.ts";
export { PollError } from "./polling/poll_error.ts";
export { readPollHealth } from "./polling/poll_failures.ts";
export type { PollHealth } from "./polling/poll_health.ts";
export type { Poller, PollReport } from "./polling/poll_report.ts";
export type { SessionToRecord } from "./events/session_record.ts";
export type { RunOptions } from "./run_ledger.ts";
export { createPoller } from "./polling/poller.ts";
export type { PollerOptions } from "./polling/poller_options.ts";
export { reconcile } from "./reconciliation/reconcile.ts";
export type { ReconcileFinding } from "./reconciliation/reconcile_finding.ts";
export type { UnprovenReason } from "./reconciliation/unproven_reason.ts";
export type { IncompleteReason } from "../core/wire/incomplete_reason.ts";
export type { ReconcileRow } from "./reconciliation/reconcile_row.ts";
export type {
  ReconcileOptions,
  ReconcileReport,
} from "./reconciliation/reconcile_report.ts";
export {
  recover,
  type RecoverOptions,
  type RecoverReport,
} from "./reconciliation/recover.ts";
export { watchdog, type WatchdogLook } from "./watchdog/watchdog.ts";
export type { DeliveryHealth } from "./watchdog/watchdog_rule.ts";

// Evidence
export type { ChainBreak } from "./evidence/chain_break.ts";
export type { ChainState } from "./evidence/chain_head.ts";
export { eraseBody } from "./evidence/erase.ts";
export type {
  ErasedPerson,
  ErasedUser,
  Erasures,
  ReturnedOrder,
} from "./erasure/erasures.ts";
export type { PruneOptions, Pruning } from "./erasure/prune_bodies.ts";
export type { ErasePersonOptions, Erasure } from "./erasure/erase_person.ts";
export type {
  ErasableOrder,
  ErasureBlock,
  ErasurePlan,
} from "./erasure/erasure_plan.ts";
export type {
  Verification as ChainVerification,
  VerifyOptions,
} from "./evidence/verification.ts";
export type {
  StatesVerification,
  VerifyStatesOptions,
} from "./evidence/verify_states.ts";

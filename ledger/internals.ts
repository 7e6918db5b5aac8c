/**
 * The parts the ledger is made of, for tools and tests. **Unstable:** any
 * version may change or remove them; build on `@rampkit/onramp/ledger`.
 *
 * The fold is pure: `readFact` decodes an event once, `evolveOrder` and
 * `evolveUser` add facts to what is known, in any order and any number of
 * times, and `orderState` and `userState` give the state that readers see. The
 * rule of the status stands alone in `order_status.ts`.
 *
 * @example Fold one event
 * ```ts
 * import {
 *   evolveOrder,
 *   initialOrderFold,
 *   orderState,
 *   readFact,
 * } from "@rampkit/onramp/ledger/internals";
 * import assert from "node:assert/strict";
 *
 * const fact = readFact({
 *   position: 1,
 *   eventId: "01HX",
 *   kind: "webhook",
 *   type: "order_complete",
 *   orderId: "01ORDER",
 *   userId: null,
 *   clickId: null,
 *   occurredAt: null,
 *   recordedAt: "2026-11-20T09:00:00.000Z",
 *   readAt: null,
 *   body: new TextEncoder().encode(
 *     `{"type":"order_complete","order":{"id":"01ORDER"}}`,
 *   ),
 *   digest: "d1",
 *   salt: null,
 * });
 * const state = orderState(evolveOrder(initialOrderFold("01ORDER"), fact));
 * assert.equal(state.status, "success");
 * assert.equal(state.trust, "claimed");
 * ```
 *
 * @module
 */

// The fold: pure functions over recorded events
export type {
  EventKind,
  MonthClosedBody,
  MonthClosedFile,
  NewEvent,
  OrderRedactedBody,
  RecordedEvent,
  RedactedEvent,
} from "./events/event.ts";
export type {
  ActivityLabel,
  Fact,
  FactBase,
  MonthClosedFact,
  OrderAbsentFact,
  OrderContradictedFact,
  OrderSnapshotFact,
  SessionFact,
  UnansweredFact,
  UnreadableFact,
  UnreadableReason,
  UserSnapshotFact,
  WebhookFact,
} from "./events/fact.ts";
export type { ClaimBody } from "./events/claim_body.ts";
export type { OrderReading } from "./events/order_reading.ts";
export type { OtpStep } from "./events/otp_step.ts";
export type { SessionRequest } from "./events/session_request.ts";
export type { UserReading } from "./events/user_reading.ts";
export {
  type AbsenceOptions,
  type ContradictionOptions,
  deliveryUnanswered,
  type MintOptions,
  monthClosed,
  type MonthOptions,
  orderAbsent,
  orderContradicted,
  orderRedacted,
  orderSnapshot,
  type ReadingOptions,
  type RedactionOptions,
  sessionCreated,
  type SessionOptions,
  type UnansweredOptions,
  userSnapshot,
  webhookEvent,
} from "./events/mint.ts";
export { readFact } from "./events/read_fact.ts";
export { foldOrder, foldUser } from "./explain/as_of.ts";
export { explainOrder, orderAsOf } from "./explain/explain_order.ts";
export type {
  ExplainedEvent,
  ExplainedField,
  FieldChange,
  FieldValue,
} from "./explain/explanation.ts";
export {
  classifyOccurrences,
  type EqualDelivery,
  type OccurrenceOptions,
} from "./explain/occurrences.ts";
export type { ExplainedMove } from "./explain/explained_move.ts";
export type { EventContent, OutcomeReason } from "./explain/outcome.ts";
export {
  ANOMALY_KINDS,
  type MismatchKind,
  type SessionMismatch,
  type StatusAnomaly,
  type TimeInFuture,
  type TransactionAnomaly,
  type UnknownSession,
  type UnreadableField,
  type VerificationReversed,
  type WebhookMismatch,
  type WithoutField,
} from "./anomalies/anomaly.ts";
export { CONTRADICTED_AFTER_MS } from "./polling/recording/contradiction.ts";
export { MACHINES } from "./machines/machines.ts";
export type {
  Contribution,
  Decision,
  Machine,
  Move,
  Observation,
  Outside,
  StateRow,
} from "./machines/machine.ts";
export {
  type ClaimedStatus,
  type OrderMachine,
  orderMachine,
  type OrderMeaning,
  type OrderMoveAnomaly,
} from "./machines/order_machine.ts";
export {
  type BanMachine,
  banMachine,
  type BanMeaning,
  type BanName,
} from "./machines/ban_machine.ts";
export {
  fkycMachine,
  lkycMachine,
  type VerificationAnomaly,
  type VerificationClaim,
  type VerificationMachine,
  type VerificationMeaning,
  type VerificationName,
} from "./machines/verification_machine.ts";
export {
  ATTENTION_KINDS,
  attentionOf,
  lastingAttention,
} from "./attention/attention.ts";
export type { Claim, Contradiction } from "./orders/claims.ts";
export { type OrderActivity, orderActivity } from "./orders/order_activity.ts";
export {
  evolveOrder,
  initialOrderFold,
  type OrderFold,
} from "./orders/order_fold.ts";
export { isFinal, isKnown, orderRank } from "./orders/order_rank.ts";
export type { OrderFacts } from "./orders/order_state.ts";
export {
  type ClaimStanding,
  type DecidedStatus,
  decideOrderStatus,
  type StatusFacts,
} from "./orders/order_status.ts";
export { orderMove } from "./orders/order_move.ts";
export type { ObservedStatus } from "./orders/readings.ts";
export type { ResolveOptions } from "./orders/resolve_order.ts";
export type { NamedSession } from "./orders/sessions.ts";
export { orderState } from "./orders/state_of_order.ts";
export type {
  Activity,
  ActivityFold,
  UserActivity,
  UserActivityFold,
} from "./projection/activity_fold.ts";
export {
  canonicalOrder,
  canonicalUser,
} from "./projection/codec/fold_codec.ts";
export { FOLD_VERSION } from "./projection/fold_version.ts";
export type { FoldCode } from "./projection/projector.ts";
export { ENTITIES, type Entity } from "./entity.ts";
export {
  evolveUser,
  initialUserFold,
  type UserFold,
} from "./users/user_fold.ts";
export {
  type UserCard,
  type UserSpending,
  userState,
} from "./users/user_state.ts";
export { NEXT_STEPS, nextStep } from "./users/next_step.ts";
export {
  decideUserStatus,
  decideVerification,
  type StatedVerification,
  type UserStatus,
  type Verification,
  verificationDecision,
  type VerificationFacts,
} from "./users/user_status.ts";

// Opening and storing
export { ledgerOn, type LedgerOptions } from "./ledger_on.ts";
export type {
  Driver,
  ResultSet,
  SqlValue,
  Statement,
} from "./store/driver/driver.ts";
export {
  openDriver,
  type OpenDriverOptions,
} from "./store/driver/open_driver.ts";

// Refold, queries and subscriptions
export { findDamage, requireWritable } from "./store/database_checks.ts";
export { countDeliveries } from "./queries/deliveries.ts";
export type { PageQuery } from "./store/tables/state_pages.ts";
export type { LedgerStats } from "./queries/stats.ts";
export {
  readStatistics,
  type Statistics,
  type StatisticsPoint,
  type StatisticsQuery,
  type StatisticsStep,
} from "./statistics/read_statistics.ts";
export type { StateChange } from "./refold/compare_generations.ts";
export type { StateDifference } from "./refold/state_diff.ts";
export type { Dispatched } from "./subscriptions/subscription_options.ts";
export type { Unfired, UnfiredQuery } from "./subscriptions/subscriptions.ts";

// Months
export type { LeftOut } from "./months/decide_rows.ts";
export { localDay } from "./months/local_day.ts";
export type { Money } from "./months/money.ts";
export type { MonthRefusal } from "./months/close_month.ts";
export { fileText } from "./months/month_close.ts";
export type { MonthDifference } from "./months/month_differences.ts";
export {
  BOOK_BY,
  type BookBy,
  type MonthRow,
  type MonthRowKind,
  type OrderTimes,
} from "./months/month_row.ts";
export type {
  LeftOutCounts,
  MonthSums,
  MonthTotal,
} from "./months/month_summary.ts";
export type { MonthsParts, MonthWork } from "./months/months_parts.ts";
export type { MonthChange } from "./months/recompute_month.ts";
export type { MonthSummary, MonthTerms } from "./months/summary_file.ts";

// Polling and reconciliation
export type { IsolatedId } from "./store/tables/polling/isolated_ids.ts";
export {
  addRefusedRequests,
  readRefusedRequests,
  type RefusedRequests,
} from "./polling/requests/refused_requests.ts";
export {
  type ShareRules,
  SWEEP_KINDS,
  type SweepKind,
} from "./polling/fair_share.ts";
export { isPolled } from "./polling/lease/lease.ts";
export type {
  PollOrdersQuery,
  PollUsersQuery,
  PollUsersWalkQuery,
  PollWalk,
  PollWalkOptions,
} from "./polling/poll_client.ts";
export type { PollErrorCode } from "./polling/poll_error.ts";
export type { PollAlert } from "./polling/poll_failures.ts";
export {
  pollAlarm,
  type PollFailureCause,
  pollFailureCause,
  type PollPart,
  type SweepFailure,
} from "./polling/poll_health.ts";
export type { PollLedger, ReconcileLedger } from "./polling/poll_ledger.ts";
export type { PollHeld, PollRan } from "./polling/poll_report.ts";
export type { BackfillStatement } from "./polling/backfill_statement.ts";
export {
  type Backlog,
  type PollStatus,
  readPollStatus,
} from "./polling/poll_status.ts";
export type { PollProgress } from "./polling/poller_options.ts";
export { DEFAULT_PERIODS, DEFAULT_RULES } from "./polling/settings.ts";
export {
  type StalenessBound,
  stalenessBound,
  type SweepPeriods,
  type WorkCounts,
} from "./polling/staleness.ts";
export type { SweepRead } from "./polling/sweeps/sweep_context.ts";
export {
  type FieldDifference,
  RECONCILE_CATEGORIES,
  RECONCILE_FLAGS,
  type ReconcileCategory,
  type ReconcileFlag,
} from "./reconciliation/reconcile_row.ts";

// Watchdog
export {
  type RetryCountdown,
  retryCountdown,
} from "./watchdog/retry_countdown.ts";
export type {
  DeliveryAlarm,
  DeliveryAlert,
} from "./watchdog/delivery_alert.ts";
export {
  deliveryHealth,
  type DeliveryState,
  type WatchedChange,
  type WatchedFacts,
} from "./watchdog/watchdog_rule.ts";

// Evidence
export {
  type ChainOrigin,
  genesisHash,
  linkHash,
} from "./evidence/chain_hash.ts";
export { chainHead } from "./evidence/chain_head.ts";
export { extendChain, type ExtendOptions } from "./evidence/extend_chain.ts";
export {
  bodyCommitment,
  commitmentOf,
  type Erased,
  type ErasedPart,
  identityCommitment,
} from "./evidence/commitment.ts";
export { anchorFilePath, resetAnchor } from "./evidence/anchor_file.ts";
export { HeadAnchor } from "./evidence/head_anchor.ts";
export type {
  AnchoredHead,
  AnchorRecord,
  AnchorReset,
  AnchorStore,
  ChainHead,
} from "./evidence/anchored_head.ts";
export type { DamageReason } from "./evidence/damage_reason.ts";
export type { Anchor, Damage } from "./evidence/verification.ts";
export { verifyChain } from "./evidence/verify_chain.ts";
export type { RowDifference } from "./evidence/verify_states.ts";

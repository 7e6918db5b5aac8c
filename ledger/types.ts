/**
 * The types inside what the ledger takes and gives: what an explanation, a month
 * or a verification is made of. They are at hand as `LedgerTypes`.
 *
 * @module
 */
export type { Verdict, VerdictReason } from "../core/chain/verdict.ts";
export type { MismatchKind } from "../core/wire/fields.ts";
export type {
  BOOK_BY,
  BookBy,
  Money,
  MonthRow,
  MonthRowKind,
  MonthWitness,
  OrderTimes,
  ROW_KINDS,
} from "./months/month_row.ts";
export type { OrderContext, WitnessState } from "./states/order_state.ts";
export type { ChainReading } from "./events/event.ts";
export type { IncompleteReason } from "../core/wire/objects.ts";
export type {
  SessionMismatch,
  StatusAnomaly,
  TimeBeforeCreation,
  TimeInFuture,
  TransactionAnomaly,
  UnknownSession,
  UnreadableField,
  VerificationReversed,
  WebhookMismatch,
  WithoutField,
} from "./anomalies/anomaly.ts";
export type { ErasableOrder, ErasureBlock } from "./erasure/redact.ts";
export type {
  ClaimedOrder,
  Comparison,
  ErasureFinding,
} from "./erasure/erasures.ts";
export type { Historic } from "./releases/order_release.ts";
export type { ErasedUser, ReturnedOrder } from "./store/aliases.ts";
export type {
  MATCH_FACTS,
  MatchFact,
  OrderDetails,
  OrderFacts,
  OrderFees,
} from "./events/event.ts";
export type { MonthClosedFile, SessionCreatedBody } from "./events/event.ts";
export type { ExpectationTerms } from "./events/event.ts";
export type {
  ActivityLabel,
  OtpStep,
  UnreadableReason,
} from "./events/fact.ts";
export type { UserCard, UserProfile, UserSpending } from "./events/readings.ts";
export type { ChainBreak, ChainState } from "./evidence/evidence.ts";
export type { Anchor, Damage, DamageReason } from "./evidence/evidence.ts";
export type { RowDifference } from "./projection/refold.ts";
export type {
  Coded,
  EffectCode,
  EffectReason,
  EventContent,
  ExplainedEvent,
  ExplainedField,
  ExplainedMove,
  FieldChange,
  FieldValue,
} from "./explain/explain_order.ts";
export type {
  AnchoredHead,
  AnchorReset,
  ChainHead,
} from "./evidence/anchor_file.ts";
export type { LedgerOptions } from "./store/create.ts";
export type { CatchUpOptions } from "./projection/catch_up.ts";
export type {
  ENTITIES,
  Entity,
  MachineName,
  RELEASE_ENTRIES,
  VisibleStatus,
} from "./machines/transition.ts";
export type {
  BanName,
  ClaimedStatus,
  Decision,
  EVENT_KINDS,
  EventKind,
  Move,
  OrderMoveAnomaly,
  VerificationName,
} from "./machines/machine.ts";
export type { MonthRefusal } from "./months/months.ts";
export type { Exclusion, EXCLUSIONS } from "./months/month_row.ts";
export type { MonthChange, MonthDifference } from "./months/months.ts";
export type {
  ExclusionCounts,
  MonthSummary,
  MonthSums,
  MonthTerms,
  MonthTotal,
} from "./months/month_files.ts";
export type { MonthWork } from "./months/months.ts";
export type { Activity, UserActivity } from "./orders/order_fold.ts";
export type {
  ClaimState,
  DecidedStatus,
  OrderActivity,
} from "./orders/order_status.ts";
export type { Uncompared } from "./outcomes/match.ts";
export type {
  ChainFact,
  CodeFact,
  FACT_VALUES,
  OutcomeFacts,
  ShownFact,
  StoredFacts,
} from "./outcomes/outcome_table.ts";
export type { Booked } from "./outcomes/outcome_table.ts";
export type { FieldMatch, FoundField } from "./reads/names.ts";
export type { RecordedName } from "./reads/names.ts";
export type { LedgerStats } from "./reads/stats.ts";
export type { WaitingDeliveries } from "./reads/stats.ts";
export type { StateChange, StateDifference } from "./projection/refold.ts";
export type {
  ClientResult,
  ClientStatement,
} from "./store/connections/client_driver.ts";
export type { OpenDriverOptions } from "./thread/open_driver.ts";
export type {
  Driver,
  ResultSet,
  SqlValue,
  Statement,
} from "./store/database.ts";
export type { IsolatedId } from "./polling/requests.ts";
export type { ListSort, PageQuery } from "./reads/pages.ts";
export type { UnlistedPattern } from "./machines/pattern.ts";
export type { Dispatched } from "./subscriptions/outbox.ts";
export type {
  FiredHistory,
  FireHistoryOptions,
  Unfired,
} from "./subscriptions/fire.ts";
export type { UnfiredQuery } from "./subscriptions/subscriptions.ts";
export type {
  UserReason,
  UserStatus,
  Verification,
  VerificationKind,
} from "./users/user_state.ts";
export type { FindingReason } from "./erasure/holders.ts";
export type { HAND_OUTCOMES } from "./events/event.ts";
export type { ATTENTION_KINDS } from "./outcomes/outcome_table.ts";
export type { OrderTotal } from "./reads/orders.ts";

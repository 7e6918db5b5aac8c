/**
 * What showing a ledger needs of it: machines, explanations, months, figures and
 * the pages of its lists.
 *
 * @module
 */
export { isWitnessed } from "./store/leases.ts";
export { readLastSeq } from "./reads/releases.ts";
export { matcher, type Pattern } from "./machines/pattern.ts";
export { record } from "./events/record.ts";
export { addNote, LONGEST_NOTE, readNotes } from "./recording/notes.ts";
export { type Note, NOTE_ACTIONS, NOTED_ENTITIES } from "./recording/notes.ts";
export type { Ledger } from "./ledger.ts";
export type { LedgerErrorCode } from "./store/database.ts";
export type { SubscriptionStatus } from "./subscriptions/subscriptions.ts";
export {
  ANOMALY_KINDS,
  type SessionMismatch,
  type UnreadableField,
  type WebhookMismatch,
} from "./anomalies/anomaly.ts";
export {
  attentionOf,
  type OrderInContext,
  type OrderState,
  outcomeNow,
} from "./states/order_state.ts";
export type { UnreadableReason } from "./events/fact.ts";
export type { ChainBreak } from "./evidence/evidence.ts";
export type { DamageReason } from "./evidence/evidence.ts";
export type { RowDifference } from "./projection/refold.ts";
export type { ExplainedMove } from "./explain/explain_order.ts";
export type { ExplainedEvent, FieldValue } from "./explain/explain_order.ts";
export type { EffectReason, EventContent } from "./explain/explain_order.ts";
export type { ChainHead } from "./evidence/anchor_file.ts";
export {
  type Decision,
  type Machine,
  MACHINES,
  type Move,
  type Observation,
  orderMachine,
  type StateRow,
} from "./machines/machine.ts";
export type { MonthRefusal } from "./months/months.ts";
export type { Exclusion } from "./months/month_row.ts";
export {
  AmountSum,
  type Money,
  type MonthRow,
  type MonthRowKind,
  ROW_KINDS,
} from "./months/month_row.ts";
export { fileText } from "./months/months.ts";
export { localDay } from "./months/month_row.ts";
export * from "./months/month_files.ts";
export type { MonthDifference } from "./months/months.ts";
export { BOOK_BY } from "./months/month_row.ts";
export type { MonthChange } from "./months/months.ts";
export type { MonthWork } from "./months/months.ts";
export * from "./outcomes/outcome_table.ts";
export { listDeliveries, readDeliveryPage } from "./reads/deliveries.ts";
export { readPurchaseHolder } from "./reads/releases.ts";
export { readAttentionPage, uncheckedSince } from "./reads/orders.ts";
export { readFolded } from "./reads/stats.ts";
export { readUnattended } from "./subscriptions/subscriptions.ts";
export { readWaiting } from "./reads/stats.ts";
export { fitting } from "./reads/pages.ts";
export { HAND_OUTCOMES } from "./events/event.ts";
export { PREFIX_AT_LEAST } from "./reads/find.ts";
export { NO_THREAD_ADVICE, NO_THREAD_MEANS } from "./thread/no_thread.ts";

/**
 * What asking the service needs of the ledger: the poller's tables, the lease it
 * works under, and the rules that say what a reading changes.
 *
 * @module
 */
export { readAliases, readErasedOrders } from "./store/aliases.ts";
export { redactReading } from "./erasure/redact.ts";
export { compareTimes, effectiveReadAt, effectiveTime } from "./events/time.ts";
export type { NewEvent } from "./events/event.ts";
export { record } from "./events/record.ts";
export { goLive } from "./recording/notes.ts";
export { readFact } from "./events/read_fact.ts";
export * from "./store/leases.ts";
export { ENTITIES, type Entity, type Status } from "./machines/transition.ts";
export {
  type ObservedChange,
  observedChange,
  type WatchedChange,
} from "./machines/transition.ts";
export {
  type EventKind,
  isFinal,
  normaliseStatus,
  orderRank,
} from "./machines/machine.ts";
export {
  nextFinalReadMs,
  OPEN_AT_MOST_MS,
  requestAgainAfterMs,
} from "./orders/order_status.ts";
export { sameValue } from "./orders/order_fold.ts";
export { FACT_FIELDS, type OrderFacts } from "./events/event.ts";
export { evolveOrder, initialOrderFold } from "./orders/order_fold.ts";
export {
  claimState,
  orderMove,
  type StatusFacts,
} from "./orders/order_status.ts";
export {
  type DeliveryLogRow,
  readDeliveryLog,
  readLastPosition,
  readLastWebhook,
  readLateReading,
  readNewestEvents,
  readUnfoldedSince,
} from "./reads/deliveries.ts";
export { FOLD_VERSION } from "./projection/fold_version.ts";
export { lastMovedMs } from "./projection/rows.ts";
export { readOldestWaiting } from "./reads/stats.ts";
export { type OrderState, orderState } from "./states/order_state.ts";
export type { Driver, Statement } from "./store/database.ts";
export { isLostRace } from "./store/database.ts";
export { appendStatement, type RawEvent } from "./store/events.ts";
export * from "./polling/observations.ts";
export * from "./polling/requests.ts";
export { readSweep, writeSweep } from "./store/database.ts";
export { outcomeOf } from "./outcomes/outcome_table.ts";
export { settle } from "./outcomes/match.ts";

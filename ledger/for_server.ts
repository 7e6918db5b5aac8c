/**
 * What running a ledger needs of it: its projection, notes, receivers, closed
 * books and figures. No native code, and no disk: Deno Deploy loads it.
 *
 * @module
 */
export { isAcknowledged, readNotes } from "./attention/notes.ts";
export type { ChainState } from "./evidence/chain_head.ts";
export type { Ledger } from "./ledger.ts";
export { ledgerOn } from "./ledger_on.ts";
export { monthAfter, monthOf } from "./months/local_day.ts";
export { bookedAmount } from "./months/month_row.ts";
export { readMonthAt, readMonthPositions } from "./months/events_of_months.ts";
export { FOLD_PACE_RULES } from "./projection/fold_pace.ts";
export { ProjectionWorker } from "./projection/projection_worker.ts";
export { HistoryReport } from "./releases/historic.ts";
export { readLivePosition } from "./queries/attention.ts";
export { type OrderTally, tallyOrders } from "./queries/stats.ts";
export { writeWaiting } from "./queries/waiting_deliveries.ts";
export { databaseFile } from "./store/connections/database_url.ts";
export { LedgerError } from "./store/driver/errors.ts";
export { RetryingDriver } from "./store/driver/retrying_driver.ts";
export type { Mover } from "./store/tables/deliveries.ts";
export type { Note } from "./store/tables/notes.ts";
export {
  selectTarget,
  switchTargetOff,
  targetOf,
  upsertTarget,
} from "./store/tables/subscriptions/forward_targets.ts";
export { transitionName } from "./machines/transition.ts";

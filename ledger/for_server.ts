/**
 * What running a ledger needs of it: its projection, notes, receivers, closed
 * books and figures. No native code, and no disk: Deno Deploy loads it.
 *
 * @module
 */
export { isAcknowledged, type Note, readNotes } from "./recording/notes.ts";
export type { ChainState } from "./evidence/evidence.ts";
export type { Ledger } from "./ledger.ts";
export { ledgerOn } from "./ledger_on.ts";
export { monthAfter, monthOf } from "./months/month_row.ts";
export { bookedAmount } from "./months/month_row.ts";
export { readMonthAt, readMonthPositions } from "./months/months.ts";
export { ProjectionWorker } from "./projection/catch_up.ts";
export { historyReport } from "./releases/order_release.ts";
export { type OrderTally, readFolded, tallyOrders } from "./reads/stats.ts";
export { type Mover, writeWaiting } from "./reads/stats.ts";
export { databaseFile } from "./store/connections/database_url.ts";
export { LedgerError } from "./store/database.ts";
export { retrying } from "./store/database.ts";
export {
  isTargetOff,
  registerTarget,
  switchTarget,
} from "./subscriptions/subscriptions.ts";
export { transitionName } from "./machines/transition.ts";

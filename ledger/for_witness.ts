/**
 * What the witness needs of the ledger: how a look is recorded, what is known of
 * an order's looks, and the lease it works under.
 *
 * @module
 */
export {
  type ChainReading,
  type ChainReadingFields,
  isLaterLook,
} from "./events/event.ts";
export { record } from "./events/record.ts";
export { type OrderReading, statedTransactionForm } from "./events/readings.ts";
export { LEASE_MS, LeaseTurn, WITNESS_LEASE } from "./store/leases.ts";
export { readLastSeq } from "./reads/releases.ts";
export { inputDigest, isAbout } from "./orders/order_fold.ts";
export type { OrderFold } from "./orders/order_fold.ts";
export { readOrderFold, readSharing } from "./reads/releases.ts";

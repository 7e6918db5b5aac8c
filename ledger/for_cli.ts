/**
 * What only commands need of the ledger.
 *
 * @module
 */
export { webhookEvent } from "./events/mint.ts";
export { countDeliveries } from "./queries/deliveries.ts";
export {
  checkpointsOf,
  selectCheckpoints,
} from "./store/tables/checkpoints.ts";
export { copyLedger, type LedgerCopy } from "./transfer/copy_ledger.ts";
export type { ExportedLine } from "./transfer/export_events.ts";

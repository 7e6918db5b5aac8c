/**
 * What only commands need of the ledger.
 *
 * @module
 */
export { countDeliveries } from "./queries/deliveries.ts";
export {
  checkpointsOf,
  selectCheckpoints,
} from "./store/tables/checkpoints.ts";
export type { ExportedLine } from "./transfer/export_events.ts";

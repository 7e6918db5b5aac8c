/**
 * What only commands need of the ledger.
 *
 * @module
 */
export { countDeliveries } from "./reads/deliveries.ts";
export type { ExportedLine } from "./transfer/transfer.ts";

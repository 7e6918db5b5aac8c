/**
 * What only commands need of the ledger.
 *
 * @module
 */
export { countDeliveries } from "./next/reads/deliveries.ts";
export type { ExportedLine } from "./transfer/export_events.ts";

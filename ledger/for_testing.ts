/**
 * What a shop in memory needs of the ledger: its database, and the clock of
 * that, which is virtual there.
 *
 * @module
 */
export { openMemoryLedger } from "./store/memory_ledgers.ts";
export { databaseNow } from "./store/tables/leases.ts";

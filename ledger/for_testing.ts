/**
 * What a shop in memory needs of the ledger: its database, and the clock of
 * that, which is virtual there.
 *
 * @module
 */
export { openMemoryLedger } from "./open_ledger.ts";
export { DATABASE_NOW as databaseNow } from "./store/leases.ts";

/**
 * What a shop in memory needs of the ledger: the clock of its database, which
 * is virtual there.
 *
 * @module
 */
export { databaseNow } from "./store/tables/leases.ts";

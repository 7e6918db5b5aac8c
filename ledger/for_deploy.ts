/**
 * What only the entry of Deno Deploy needs of the ledger.
 *
 * @module
 */
export { remoteDriver } from "./store/connections/remote_driver.ts";

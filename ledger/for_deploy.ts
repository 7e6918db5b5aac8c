/**
 * What only the entry of Deno Deploy needs of the ledger.
 *
 * @module
 */
export { RemoteDriver } from "./store/connections/remote_driver.ts";

/**
 * What tests of other modules may use of the client, beside its doors.
 *
 * @module
 */
export { dataSources } from "../page.ts";

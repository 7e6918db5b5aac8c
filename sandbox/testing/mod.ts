/**
 * What tests of other modules may use of the sandbox, beside its doors.
 *
 * @module
 */
export { hostCheck, wrongHost } from "../http/host_check.ts";
export { unitsOf } from "../seeded/seeded_values.ts";

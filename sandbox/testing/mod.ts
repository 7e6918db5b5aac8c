/**
 * What tests of other modules may use of the sandbox, beside its doors.
 *
 * @module
 */
export { unitsOf } from "../seeded/seeded_values.ts";

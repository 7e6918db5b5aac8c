/**
 * What tests of other modules may use of polling, beside its doors.
 *
 * @module
 */
export { SWEEP_KINDS } from "../polling/fair_share.ts";
export { readDeepCycles } from "../polling/poll_status.ts";
export {
  UNTRIED,
  withFailure,
  withoutFailure,
} from "../polling/poll_health.ts";
export {
  RECONCILE_CATEGORIES,
  RECONCILE_FLAGS,
  RECONCILE_SEVERITY,
} from "../reconciliation/reconcile_row.ts";
export { deliveryHealth, GRACE_MS } from "../watchdog/watchdog_rule.ts";
export { fieldName, message, timeForm, word } from "../conformance/scrub.ts";

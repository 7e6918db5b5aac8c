/**
 * What tests of other modules may use of the ledger, beside its doors.
 *
 * @module
 */
export { allNotes } from "./mint.ts";
export type { RecordedEvent } from "../events/event.ts";
export {
  type ExpectationFact,
  type Fact,
  isExpectation,
  isWitnessRule,
  type WebhookFact,
} from "../events/fact.ts";
export * from "./mint.ts";
export { anchorFilePath, readAnchor } from "../evidence/anchor_file.ts";
export { emptyLedger } from "./empty_ledger.ts";
export { foldOrder } from "./fold_order.ts";
export type { OrderFold } from "../orders/order_fold.ts";
export { foldUser } from "./fold_user.ts";
export { explainOrder } from "../explain/explain_order.ts";
export { isKnown } from "../machines/machine.ts";
export { FINAL_READS_AFTER_MS } from "../orders/order_status.ts";
export { contestingClaims } from "../orders/order_status.ts";
export { decideUserStatus, userState } from "../users/user_state.ts";
export { FileDriver } from "../store/connections/file_driver.ts";
export type { ResultSet, SqlValue } from "../store/database.ts";
export {
  evolveUser,
  initialUserFold,
  type UserFold,
} from "../users/user_state.ts";
export { forgetOutcomes } from "../outcomes/outcome_table.ts";
export { FACT_VALUES, type OutcomeFacts } from "../outcomes/outcome_table.ts";
export { OUTCOME_TABLE, type OutcomeRow } from "../outcomes/outcome_table.ts";
export { orderRelease } from "../releases/order_release.ts";

// What is stored, as it is stored.
export { eraseBody, eraseBodyAt } from "./erase_body.ts";
export {
  firstSeal,
  leafOf,
  type Seal,
  sealNext,
} from "../evidence/evidence.ts";
export {
  packOrder,
  packUser,
  type Row,
  unpackOrder,
  unpackUser,
} from "../projection/rows.ts";
export { guardOf, selectGuard } from "../projection/guard.ts";
export { LIVE, transitionOf, TRANSITIONS } from "../projection/log.ts";
export { LookupHash } from "../projection/guard.ts";
export { type FoldCode, project } from "../projection/project.ts";
export { KINDS, orderView } from "../projection/rows.ts";
export { readTransitions } from "../reads/releases.ts";
export { readStamp } from "../store/create.ts";
export { EVENT_COLUMNS, eventsOf } from "../store/events.ts";
export { SCHEMA_VERSION } from "../store/schema.ts";

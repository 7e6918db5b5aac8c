/**
 * What tests of other modules may use of the ledger, beside its doors.
 *
 * @module
 */
export { chainReading, witnessRequired } from "../events/mint.ts";
export { allNotes } from "../attention/notes.ts";
export type { RecordedEvent } from "../events/event.ts";
export {
  type ExpectationFact,
  type Fact,
  isExpectation,
  isWitnessRule,
  type WebhookFact,
} from "../events/fact.ts";
export {
  deliveryUnanswered,
  orderExpected,
  sessionCreated,
  webhookEvent,
} from "../events/mint.ts";
export { anchorFile, anchorFilePath } from "../evidence/anchor_file.ts";
export { emptyLedger } from "./empty_ledger.ts";
export { foldOrder, foldUser } from "../explain/as_of.ts";
export { explainOrder } from "../explain/explain_order.ts";
export { genesisHash, linkHash } from "../hashes/chain_hash.ts";
export { bodyCommitment, commitmentOf } from "../hashes/commitment.ts";
export { isKnown } from "../machines/order_rank.ts";
export { FINAL_READS_AFTER_MS } from "../orders/reread_schedule.ts";
export { contestingClaims } from "../orders/order_status.ts";
export {
  encodeOrderFold,
  encodeUserFold,
} from "../projection/codec/fold_codec.ts";
export { userState } from "../users/user_state.ts";
export { orderRow, userRow } from "../projection/codec/rows.ts";
export { readOrderState } from "../projection/codec/stored_state.ts";
export { type FoldCode, Projector } from "../projection/projector.ts";
export { FileDriver } from "../store/connections/file_driver.ts";
export type { ResultSet, SqlValue } from "../store/driver/driver.ts";
export { schema, SCHEMA_VERSION } from "../store/schema.ts";
export { readStamp } from "../store/stamp.ts";
export {
  queueFinal,
  queueOpen,
} from "../store/tables/polling/queued_requests.ts";
export { EVENTS, recordedEvent } from "../store/tables/events/event_rows.ts";
export { orderFoldSql, orderStateSql } from "../store/tables/orders.ts";
export {
  entityIdSql,
  placesOfIds,
} from "../store/tables/polling/request_places.ts";
export { userTextsSql } from "../store/tables/users.ts";
export {
  loggedRows,
  readTransitions,
  transitionOf,
  TRANSITIONS,
} from "../store/tables/transitions.ts";
export {
  evolveUser,
  initialUserFold,
  type UserFold,
} from "../users/user_fold.ts";
export { decideUserStatus } from "../users/user_status.ts";
export { forgetOutcomes } from "../outcomes/outcome.ts";
export { FACT_VALUES, type OutcomeFacts } from "../outcomes/outcome_facts.ts";
export { OUTCOME_TABLE, type OutcomeRow } from "../outcomes/outcome_table.ts";
export { orderRelease } from "../releases/order_release.ts";
export { requeueOpenOrders } from "../store/tables/polling/request_queues.ts";

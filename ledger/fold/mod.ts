/**
 * What is true of orders and users: pure functions over recorded events.
 *
 * `readFact` decodes an event once, `evolveOrder` and `evolveUser` add facts
 * to what is known, in any order and any number of times, and `orderState` and
 * `userState` work out what is true. The rule of the status can be read alone
 * in `order_status.ts`.
 *
 * @example Fold one event
 * ```ts
 * import { evolveOrder, initialOrderFold, orderState, readFact } from "@rampkit/onramp/ledger";
 * import assert from "node:assert/strict";
 *
 * const fact = readFact({
 *   position: 1,
 *   eventId: "01HX",
 *   kind: "webhook",
 *   type: "order_complete",
 *   orderId: "01ORDER",
 *   userId: null,
 *   clickId: null,
 *   occurredAt: null,
 *   recordedAt: "2026-11-20T09:00:00.000Z",
 *   readAt: null,
 *   body: new TextEncoder().encode(
 *     `{"type":"order_complete","order":{"id":"01ORDER"}}`,
 *   ),
 *   digest: "d1",
 *   salt: null,
 * });
 * const state = orderState(evolveOrder(initialOrderFold("01ORDER"), fact));
 * assert.equal(state.status, "success");
 * assert.equal(state.trust, "claimed");
 * ```
 *
 * @module
 */
export type { AssetTable } from "../../client/environment.ts";
export type {
  Open,
  OrderEventType,
  VerificationState,
} from "../../webhooks/event.ts";
export type {
  Activity,
  ActivityFold,
  UserActivity,
  UserActivityFold,
} from "./activity_fold.ts";
export type { Anomaly, AnomalyKind } from "./anomaly.ts";
export { foldOrder, foldUser } from "./as_of.ts";
export type { Claim, Contradiction } from "./claims.ts";
export { canonicalOrder, canonicalUser } from "./codec.ts";
export { explainOrder, orderAsOf } from "./explain_order.ts";
export type {
  ExplainedEvent,
  ExplainedField,
  Explanation,
  FieldChange,
} from "./explanation.ts";
export type * from "./fact.ts";
export {
  classifyOccurrences,
  type EqualDelivery,
  type Occurrence,
  type OccurrenceOptions,
} from "./occurrences.ts";
export { type OrderActivity, orderActivity } from "./order_activity.ts";
export {
  evolveOrder,
  initialOrderFold,
  type OrderFold,
  orderStatus,
} from "./order_fold.ts";
export { isFinal, isKnown, orderRank } from "./order_rank.ts";
export type { OrderFacts, OrderState, Status, Trust } from "./order_state.ts";
export {
  type ClaimStanding,
  type DecidedStatus,
  decideOrderStatus,
  type StatusFacts,
} from "./order_status.ts";
export type { Shown } from "./readings.ts";
export { readFact } from "./read_fact.ts";
export type { ResolveOptions } from "./resolve_order.ts";
export { type Routes, routes } from "./routes.ts";
export { orderState } from "./state_of_order.ts";
export {
  evolveUser,
  initialUserFold,
  type StatedVerification,
  type UserFold,
  userStatus,
} from "./user_fold.ts";
export {
  type UserCard,
  type UserSpending,
  type UserState,
  userState,
} from "./user_state.ts";
export type { UserStatus, Verification } from "./user_status.ts";
export { FOLD_VERSION } from "./version.ts";

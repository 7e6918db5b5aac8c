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
export * from "./activity_fold.ts";
export * from "./anomaly.ts";
export * from "./as_of.ts";
export * from "./codec.ts";
export * from "./explain_order.ts";
export * from "./explanation.ts";
export * from "./fact.ts";
export * from "./occurrences.ts";
export * from "./order_activity.ts";
export * from "./order_fold.ts";
export * from "./order_rank.ts";
export * from "./order_state.ts";
export * from "./order_status.ts";
export * from "./read_fact.ts";
export * from "./resolve_order.ts";
export * from "./routes.ts";
export * from "./state_of_order.ts";
export * from "./user_fold.ts";
export * from "./user_state.ts";
export * from "./user_status.ts";
export * from "./version.ts";

/**
 * The ledger: remembers what the service said, and decides what is true.
 *
 * Deliveries, readings and sessions are appended as they came and never
 * changed. Folding them gives one state for each order and user, the same
 * whatever the order of arrival and however often something was repeated: a
 * webhook _claims_, the Data API _confirms_.
 *
 * @example Store a delivery, fold it, read the order
 * ```ts
 * import { openLedger } from "@rampkit/onramp/ledger";
 * import assert from "node:assert/strict";
 *
 * await using ledger = await openLedger({
 *   url: ":memory:",
 *   environment: "sandbox",
 * });
 * await ledger.appendDelivery({
 *   id: "01KA0000000000000000000000",
 *   receivedAt: "2026-11-20T09:00:00.000Z",
 *   body: new TextEncoder().encode(JSON.stringify({
 *     type: "order_complete",
 *     click_id: "basket-7",
 *     order: { id: "01KA0000000000000000000ABC" },
 *   })),
 * });
 * await ledger.project();
 * const [order] = await ledger.orders.find("basket-7");
 * assert.equal(order?.status, "success");
 * assert.equal(order?.trust, "claimed");
 * ```
 *
 * @module
 */
export type { AssetTable } from "../client/environment.ts";
export type { OrderEventType, VerificationState } from "../webhooks/event.ts";
export type {
  AppendDelivery,
  Delivery,
  UnansweredDelivery,
} from "../webhooks/delivery.ts";
export * from "./event/event.ts";
export * from "./event/mint.ts";
export * from "./evidence/chain.ts";
export * from "./evidence/chain_projection.ts";
export * from "./evidence/erase.ts";
export {
  type Damage,
  type Verification as ChainVerification,
  verifyChain,
  type VerifyOptions,
} from "./evidence/verify.ts";
export * from "./fold/mod.ts";
export {
  type CatchUpOptions,
  Ledger,
  type LedgerParts,
  type Projection,
  type Stats,
} from "./ledger.ts";
export { ledgerOn, type LedgerOptions } from "./ledger_on.ts";
export { openLedger, type OpenLedgerOptions } from "./open_ledger.ts";
export type { StateChange } from "./projection/compare_generations.ts";
export type { Import } from "./projection/import_events.ts";
export type { Letter } from "./projection/letters.ts";
export {
  type OrderPage,
  type OrderQuery,
  Orders,
  type OrderView,
} from "./projection/orders.ts";
export type { TransitionPattern } from "./projection/pattern.ts";
export type { FoldCode } from "./projection/projector.ts";
export type { Refold, RefoldOptions } from "./projection/refold.ts";
export type { PageQuery } from "./projection/select_page.ts";
export type { StateDifference } from "./projection/state_diff.ts";
export type { LedgerStats } from "./projection/stats.ts";
export {
  type Pumped,
  type SubscribeOptions,
  Subscription,
  type SubscriptionParts,
  type TransitionHandler,
} from "./projection/subscription.ts";
export {
  Subscriptions,
  type SubscriptionStatus,
  type Unfired,
  type UnfiredQuery,
} from "./projection/subscriptions.ts";
export type { Entity, Transition } from "./projection/transition.ts";
export type { TransitionQuery } from "./projection/transitions.ts";
export {
  type UserPage,
  type UserQuery,
  Users,
  type UserView,
} from "./projection/users.ts";
export * from "./poller/mod.ts";
export * from "./store/driver.ts";
export * from "./store/errors.ts";
export * from "./store/open_driver.ts";

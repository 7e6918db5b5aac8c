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
export * from "./ledger.ts";
export * from "./projection/orders.ts";
export * from "./projection/select_page.ts";
export * from "./projection/stats.ts";
export * from "./projection/transition.ts";
export * from "./projection/users.ts";
export * from "./store/driver.ts";
export * from "./store/errors.ts";
export * from "./store/open_driver.ts";

/**
 * Your own tests: a shop in memory with your handlers, the service in a box and
 * a clock that you move; chaos that tries to break what your handlers promise;
 * and signed webhooks for a back end in any framework.
 *
 * It runs under `deno test`, `node --test`, vitest and `bun test`.
 *
 * @example A claw-back reaches your handler
 * ```ts
 * import { testShop } from "@rampkit/onramp/testing";
 * import assert from "node:assert/strict";
 *
 * const refunds: (string | null)[] = [];
 * await using shop = await testShop({
 *   on: {
 *     "order.release.no": (_, { reference }) => void refunds.push(reference),
 *   },
 * });
 * const sale = await shop.sell({ reference: "basket-17" });
 * await shop.pay(sale);
 * await shop.settle();
 * await shop.reverse(sale);
 * await shop.settle();
 * assert.deepEqual(refunds, ["basket-17"]);
 * ```
 *
 * @module
 */
export { type TestShop, testShop, type TestShopOptions } from "./shop.ts";
export type { Customers, PaidOrder, Payment, SaleName } from "./customers.ts";
export {
  ChaosError,
  type ChaosOptions,
  type ChaosReport,
  type Guarantee,
} from "./chaos.ts";
export {
  type ForwardedEvent,
  type SignedForward,
  signForwarded,
} from "./sign_forwarded.ts";
export type { ForwardedTransition } from "../server/forwarding/transition_message.ts";

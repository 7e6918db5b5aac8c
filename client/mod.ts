/**
 * All of the partner API: exact, typed, and safe to retry.
 *
 * Amounts are decimal strings from the first byte to the last. Inputs are
 * checked against every documented rule before they are sent, and one
 * `ValidationError` lists all faults. Reads, sessions and user creation are
 * retried within one deadline; card registration never is. A walk over pages
 * ends with a statement of whether it saw everything.
 *
 * It runs in Deno, Node 22 or later, Bun and workers.
 *
 * @example Read the orders of a day, and know that none is missing
 * ```ts
 * import { OnrampClient } from "@rampkit/onramp/client";
 * import assert from "node:assert/strict";
 *
 * const client = new OnrampClient({
 *   environment: "sandbox",
 *   apiKey: "key",
 *   // Without `fetch` the service is asked; this one answers locally.
 *   fetch: (request) => {
 *     const first = !String(request).includes("cursor_id");
 *     return Promise.resolve(new Response(
 *       first
 *         ? `{"success": true, "total": 1, "next_cursor_id": "C", "data": [
 *             {"order_id": "A", "status": "success", "crypto_amount": 0.100000000000000001}
 *           ]}`
 *         : '{"success": true, "total": 1, "data": []}',
 *     ));
 *   },
 *   requestsPerSecond: 1000,
 * });
 *
 * const day = client.orders.list({
 *   start_date: "2026-01-01T00:00:00Z",
 *   end_date: "2026-01-02T00:00:00Z",
 * }, { prove: true });
 * for await (const order of day) {
 *   assert.equal(order.crypto_amount, "0.100000000000000001");
 * }
 * assert.equal(day.completeness.complete, true);
 * ```
 *
 * @module
 */
export { OnrampClient, type OnrampClientOptions } from "./client.ts";
export type { OrdersApi, OrderWalk, UsersApi, UserWalk } from "./lists.ts";
export type { Walk } from "./walk.ts";
export * from "./call_options.ts";
export {
  type CheckedSession,
  checkSessionInput,
  type FlowType,
  type Session,
  type SessionInput,
  type SessionRuleOptions,
  type SessionsApi,
} from "./sessions.ts";
export * from "./users.ts";
export {
  type BillingAddress,
  type CardInput,
  type CardsApi,
  checkCardInput,
  type RegisteredCard,
} from "./cards.ts";
export { sessionValidityMs } from "../core/rules/session_limits.ts";
export type * from "../core/wire/objects.ts";
export * from "../core/wire/objects.ts";
export * from "../core/wire/objects.ts";
export {
  type Completeness,
  type CompleteWalk,
  describeIncomplete,
  type IncompleteReason,
  type IncompleteWalk,
  type WalkFacts,
} from "../core/wire/objects.ts";
export type {
  OddField,
  OddFieldOf,
  OddValue,
  Page,
} from "../core/wire/objects.ts";
export { readServiceTime } from "../core/time/service_time.ts";
export { compareDecimals, isDecimal } from "../core/decimal.ts";
export { isWalletAddress } from "../core/rules/wallet_address.ts";
export {
  alpha2Countries,
  alpha3Countries,
  usStates,
} from "../core/rules/countries.ts";
export * from "../core/assets/environment.ts";
export * from "../core/assets/assets.ts";
export { describeFailReason } from "../core/assets/fail_reason.ts";
export * from "./errors.ts";

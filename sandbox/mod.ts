/**
 * The service in a box: the five endpoints with their documented errors,
 * orders and users with a true history, the webhook sender with its retries,
 * a stub of the widget, a clock that can be moved, and faults from one seed.
 *
 * In process for tests, over HTTP for any language ({@linkcode serveSandbox}).
 *
 * @example Fifteen hours of retries in a moment
 * ```ts
 * import { createSandbox, virtualClock } from "@rampkit/onramp/sandbox";
 * import assert from "node:assert/strict";
 *
 * const clock = virtualClock(Date.UTC(2026, 0, 1));
 * await using sandbox = createSandbox({
 *   clock,
 *   webhookUrl: "http://partner/webhooks/secret",
 *   fetch: () => Promise.resolve(new Response(null, { status: 500 })),
 * });
 *
 * const order = sandbox.createOrder();
 * sandbox.advance(order.orderId, "pay");
 * await clock.advance(16 * 3_600_000);
 *
 * assert.equal(sandbox.delivery.state, "disabled");
 * assert.equal(sandbox.counters.attempts, 6);
 * ```
 *
 * Over HTTP the sandbox answers, beside the service's own paths:
 *
 * - `GET /control`: a page for people. `GET /control/widget`: the widget, with
 *   a session of its own.
 * - `GET /control/state`, `/truth`, `/counters`, `/deliveries`, `/orders`,
 *   `/orders/{id}`, `/users`, `/faults`.
 * - `POST /control/orders`, `PATCH` and `DELETE /control/orders/{id}`,
 *   `POST /control/orders/{id}/steps` with `{ step }`; the same for `users`,
 *   which cannot be deleted.
 * - `POST /control/events` with `{ type, orderId?, userId?, fields? }`: any
 *   event with any fields. `POST /control/test`: the Test button.
 * - `PATCH /control/delivery` with `{ webhookUrl?, disableRule?, enabled? }`.
 * - `PATCH /control/faults`, and `DELETE` to switch them all off.
 * - `POST /control/populate` with `{ orders, spanMs?, stepMs?, openShare? }`, and
 *   `/control/clock` with `{ advanceMs }`.
 * - `/{partner_id}/widget`: the page that the official widget SDK opens.
 *
 * @module
 */
export * from "./clock.ts";
export {
  createSandbox,
  type ServedSandbox,
  serveSandbox,
  type ServeSandboxOptions,
} from "./create_sandbox.ts";
export {
  BAD_DAY,
  COUNTS,
  FAULT_RATES,
  type FaultRate,
  type Faults,
  type FaultSpan,
  NO_FAULTS,
  type SandboxCounters,
} from "./faults.ts";
export { nextSteps, truthOf, USER_STEPS } from "./orders_and_users.ts";
export * from "./sandbox.ts";
export type { OrderStatus, VerificationStatus } from "../core/wire/objects.ts";
export type {
  OrderEventType,
  UserEventType,
} from "../core/webhook_event/webhook_event.ts";

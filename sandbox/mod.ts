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
 * - `POST /control/populate`, `/control/backfill`, and `/control/clock` with
 *   `{ advanceMs }`; a clock that was given has to be a virtual one for that.
 * - `/{partner_id}/widget`: the page that the official widget SDK opens.
 *
 * @module
 */
export { RETRY_DELAYS_MS } from "../core/waiting/retry_delay.ts";
export * from "./clocks/clock.ts";
export * from "./clocks/real_clock.ts";
export * from "./clocks/virtual_clock.ts";
export {
  ANSWER_WITHIN_MS,
  DISABLE_RULES,
  type DisableRule,
  type FailedSoFar,
  nextAttemptMs,
} from "./delivery/retry_schedule.ts";
export * from "./faults/faults.ts";
export type { SandboxCounters } from "./engine/counters.ts";
export type {
  DeliveryAttempt,
  DeliveryCause,
  DeliveryState,
  DeliveryStatus,
  SandboxDelivery,
  TriggerInput,
} from "./delivery/delivery_log.ts";
export type {
  SandboxFees,
  SandboxOrder,
  SandboxStep,
} from "./engine/sandbox_order.ts";
export * from "./engine/sandbox_user.ts";
export {
  nextSteps,
  type OrderStep,
  type StepFacts,
  type StepTaken,
  takeStep,
} from "./engine/order_steps.ts";
export * from "./engine/user_steps.ts";
export * from "./engine/truth.ts";
export * from "./service/sandbox_options.ts";
export * from "./sandbox.ts";
export {
  type ServedSandbox,
  serveSandbox,
  type ServeSandboxOptions,
} from "./serve_sandbox.ts";
export type { BackfillOptions } from "./service/backfill.ts";
export type { SandboxPartner } from "./engine/partner.ts";
export type { PopulateOptions } from "./service/populate.ts";
export type { OrderForm } from "./faults/odd_rows.ts";
export type { OrderInput, UserInput } from "./engine/entity_factory.ts";
export type { OrderStatus } from "../core/wire/order.ts";
export type { VerificationStatus } from "../core/wire/user.ts";
export type {
  OrderEventType,
  UserEventType,
} from "../core/webhook_event/webhook_event.ts";

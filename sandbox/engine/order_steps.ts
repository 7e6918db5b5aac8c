import type { OrderEventType } from "../../core/webhook_event/webhook_event.ts";
import type { SandboxOrder } from "./sandbox_order.ts";
import type { Random } from "../seeded/random.ts";

/**
 * What can happen to an order:
 *
 * - `pay`: the user pressed Confirm and Pay; it is in progress.
 * - `authorise`: the payment went through; the asset is not sent yet.
 * - `transfer`: the transaction has one confirmation. It may be announced
 *   before or after the order is complete.
 * - `complete`, `fail`, `cancel`: success, failure, cancelled after payment.
 */
export type OrderStep =
  | "pay"
  | "authorise"
  | "transfer"
  | "complete"
  | "fail"
  | "cancel";

/** Facts a step may need. */
export interface StepFacts {
  /** When it happens, in milliseconds since the epoch. */
  readonly atMs: number;
  /** Transaction hash, for `transfer` and `complete`. */
  readonly txId: string;
  /** Payment error code, for `fail`. */
  readonly failReason: string;
  /** Text of the failure, for `fail`. */
  readonly errorText: string;
}

/** What a step does to an order. */
export interface StepTaken {
  /** The order afterwards. */
  readonly order: SandboxOrder;
  /** Webhook to send, if the step has one. */
  readonly event: OrderEventType | null;
}

/** The statuses each step may follow, the one it leads to, its webhook. */
const STEPS: Readonly<
  Record<OrderStep, {
    readonly from: readonly string[];
    readonly to: string | null;
    readonly event: OrderEventType | null;
  }>
> = {
  pay: { from: ["created"], to: "progress", event: "payment_started" },
  authorise: { from: ["progress"], to: "pending", event: null },
  transfer: {
    from: ["progress", "pending", "success"],
    to: null,
    event: "transfer_started",
  },
  complete: {
    from: ["progress", "pending"],
    to: "success",
    event: "order_complete",
  },
  fail: {
    from: ["created", "progress", "pending"],
    to: "failed",
    event: "order_failed",
  },
  cancel: {
    from: ["progress", "pending", "success"],
    to: "cancelled",
    event: "order_cancelled",
  },
};

/**
 * The steps an order may take next.
 *
 * @returns The steps, in the order a person would look for them.
 *
 * @example What can happen to a new order
 * ```ts
 * import { nextSteps } from "@rampkit/onramp/sandbox";
 * import assert from "node:assert/strict";
 *
 * const order = { status: "created", transferStarted: false };
 * assert.deepEqual(nextSteps(order), ["pay", "fail"]);
 * ```
 */
export function nextSteps(
  order: Pick<SandboxOrder, "status" | "transferStarted">,
): OrderStep[] {
  return (Object.keys(STEPS) as OrderStep[]).filter((step) =>
    STEPS[step].from.includes(order.status) &&
    !(step === "transfer" && order.transferStarted)
  );
}

/**
 * Lets an order take a step.
 *
 * @param order The order before.
 * @param step What happens to it.
 * @param facts What the step needs to know.
 * @returns The order afterwards and the webhook to send.
 * @throws {RangeError} If the order cannot take the step from where it is.
 *
 * @example Pay an order
 * ```ts
 * import { createSandbox, takeStep } from "@rampkit/onramp/sandbox";
 * import assert from "node:assert/strict";
 *
 * const { order, event } = takeStep(createSandbox().createOrder(), "pay", {
 *   atMs: Date.now(),
 *   txId: "",
 *   failReason: "",
 *   errorText: "",
 * });
 * assert.equal(order.status, "progress");
 * assert.equal(event, "payment_started");
 * ```
 */
export function takeStep(
  order: SandboxOrder,
  step: OrderStep,
  facts: StepFacts,
): StepTaken {
  const rule = Object.hasOwn(STEPS, step) ? STEPS[step] : undefined;
  if (!rule) {
    throw new RangeError(
      `Cannot advance order ${order.orderId}: "${step}" is not a step; use ` +
        Object.keys(STEPS).join(", "),
    );
  }
  if (!nextSteps(order).includes(step)) {
    throw new RangeError(
      `Cannot ${step} order ${order.orderId}: its status is ${order.status}` +
        (step === "transfer" && order.transferStarted
          ? " and its transfer was announced"
          : `; allowed from ${rule.from.join(", ")}`),
    );
  }
  const status = rule.to ??
    (order.status === "progress" ? "pending" : order.status);
  return {
    event: rule.event,
    order: {
      ...order,
      status,
      txId: namesTransaction(step) ? order.txId || facts.txId : order.txId,
      transferStarted: order.transferStarted || step === "transfer",
      failReason: step === "fail" ? facts.failReason : order.failReason,
      errorText: step === "fail" ? facts.errorText : order.errorText,
      changedAtMs: Math.max(facts.atMs, order.changedAtMs),
      history: status === order.status
        ? order.history
        : [...order.history, { status, atMs: facts.atMs }],
    },
  };
}

/** Whether a step is one after which the order names its transaction. */
function namesTransaction(step: OrderStep): boolean {
  return step === "transfer" || step === "complete";
}

/** The ways an order can end, each with its weight. */
const ENDINGS: readonly (readonly [number, readonly OrderStep[]])[] = [
  [50, ["pay", "authorise", "transfer", "complete"]],
  [12, ["pay", "authorise", "complete", "transfer"]],
  [10, ["pay", "complete"]],
  [8, ["pay", "fail"]],
  [6, ["pay", "authorise", "fail"]],
  [3, ["fail"]],
  [7, ["pay", "authorise", "cancel"]],
  [2, ["pay", "authorise", "transfer", "complete", "cancel"]],
  [2, ["pay", "cancel"]],
];

/** The steps of one ending, picked by weight. */
export function pickEnding(random: Random): readonly OrderStep[] {
  const sum = ENDINGS.reduce((total, [weight]) => total + weight, 0);
  let left = random.unit() * sum;
  for (const [weight, steps] of ENDINGS) {
    left -= weight;
    if (left < 0) return steps;
  }
  return [];
}

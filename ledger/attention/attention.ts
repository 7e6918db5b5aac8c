import type { OrderState } from "../orders/order_state.ts";
import { verdictOf } from "../orders/verdict.ts";

/**
 * Why an order waits for a person, the gravest first: money that is owed, goods
 * that may be lost, then what is only unclear.
 *
 * - `refund_due`: paid after the order's time (4016).
 * - `reversed_after_success`: the service took a success back.
 * - `sent_without_success`: failed or cancelled, and a transaction is shown.
 * - `cancelled_after_payment`: cancelled once the payment was processed.
 * - `amount_mismatch`: paid another amount than the order's (4017), or another
 *   than the session or a webhook says.
 * - `success_without_transaction`: success, with an empty transaction.
 * - `final_changed`: the service took another final status back.
 * - `stuck`: paid, and not sent for an hour.
 * - `forged_or_unknown`: webhooks name it, and the service does not know it.
 */
export type AttentionKind =
  | "refund_due"
  | "reversed_after_success"
  | "sent_without_success"
  | "cancelled_after_payment"
  | "amount_mismatch"
  | "success_without_transaction"
  | "final_changed"
  | "stuck"
  | "forged_or_unknown";

/** Every kind, the gravest first. */
export const ATTENTION_KINDS: readonly AttentionKind[] = Object.keys(
  {
    refund_due: true,
    reversed_after_success: true,
    sent_without_success: true,
    cancelled_after_payment: true,
    amount_mismatch: true,
    success_without_transaction: true,
    final_changed: true,
    stuck: true,
    forged_or_unknown: true,
  } satisfies Record<AttentionKind, true>,
) as AttentionKind[];

/** Paid and not delivered for this long is stuck, in milliseconds. */
export const STUCK_AFTER_MS = 3_600_000;

/**
 * Why an order waits for a person, whatever the time is: all kinds but `stuck`.
 *
 * @param state The order.
 * @returns The kinds, the gravest first; empty where nobody has to look.
 *
 * @example Nothing is known, so nobody has to look
 * ```ts
 * import { initialOrderFold, lastingAttention, orderState } from "@rampkit/onramp/ledger/internals";
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(lastingAttention(orderState(initialOrderFold("01ORDER"))), []);
 * ```
 */
export function lastingAttention(state: OrderState): AttentionKind[] {
  const { confirmed, anomalies } = state;
  const ended = verdictOf(state).code;
  const changed = anomalies.find(({ kind }) => kind === "final_changed");
  const reversed = changed?.kind === "final_changed" &&
    changed.before.includes("success");
  const absent = anomalies.find(({ kind }) => kind === "absent");
  const cancelled = confirmed?.status === "cancelled" &&
    confirmed.failReason !== "4018";
  const found: Readonly<Record<AttentionKind, boolean>> = {
    refund_due: confirmed?.failReason === "4016",
    reversed_after_success: reversed,
    cancelled_after_payment: cancelled,
    sent_without_success: ended === "sent_without_success",
    amount_mismatch: confirmed?.failReason === "4017" ||
      (confirmed !== null &&
        anomalies.some(({ kind }) => kind === "amount_mismatch")),
    success_without_transaction: anomalies.some(({ kind }) =>
      kind === "success_without_transaction"
    ),
    final_changed: changed !== undefined && !reversed,
    stuck: false,
    forged_or_unknown: ended === "unknown_to_service" ||
      (absent?.kind === "absent" && absent.wasShown),
  };
  return ATTENTION_KINDS.filter((kind) => found[kind]);
}

/**
 * Why an order waits for a person now.
 *
 * @param state The order.
 * @param nowMs The time, in milliseconds since the epoch.
 * @returns The kinds, the gravest first; empty where nobody has to look.
 */
export function attentionOf(state: OrderState, nowMs: number): AttentionKind[] {
  const kinds = lastingAttention(state);
  return isStuck(state, nowMs)
    ? ATTENTION_KINDS.filter((kind) => kind === "stuck" || kinds.includes(kind))
    : kinds;
}

/** Paid, by the service's own word, and nothing has changed for an hour. */
function isStuck(
  { confirmed, transferSeen, changedAt }: OrderState,
  nowMs: number,
): boolean {
  const paid = confirmed?.status === "pending" ||
    (confirmed?.status === "progress" && transferSeen);
  return paid && changedAt !== null &&
    nowMs - Date.parse(changedAt) >= STUCK_AFTER_MS;
}

import { isFinal } from "../orders/order_rank.ts";
import type { OrderState } from "../orders/order_state.ts";
import {
  type BothSides,
  RECONCILE_FLAGS,
  type ReconcileFlag,
  type ReconcileRules,
} from "./reconcile_row.ts";

/**
 * Finds what a person should look at in one order.
 *
 * @param sides Both sides.
 * @param rules How to compare.
 */
export function reconcileFlags(
  { service, ledger }: BothSides,
  rules: ReconcileRules,
): ReconcileFlag[] {
  if (service === null) return [];
  const found: Record<ReconcileFlag, boolean> = {
    missed_webhook: missedWebhook(service, ledger, rules),
    stuck: isStuck(service, ledger, rules),
    refund_due: service.failReason === "4016",
    amount_mismatch: service.failReason === "4017" ||
      (ledger?.anomalies.some(({ kind }) => kind === "amount_mismatch") ??
        false),
    cancelled_after_payment: service.status === "cancelled" &&
      service.failReason !== "4018",
    success_without_transaction: service.anomalies.some(({ kind }) =>
      kind === "success_without_transaction"
    ),
  };
  return RECONCILE_FLAGS.filter((flag) => found[flag]);
}

function missedWebhook(
  service: OrderState,
  ledger: OrderState | null,
  rules: ReconcileRules,
): boolean {
  if (service.status === "created") return false;
  if (ageMs(service, rules) < rules.webhookGraceMs) return false;
  const claims = ledger?.history.filter(({ source }) => source === "webhook") ??
    [];
  return isFinal(service.status)
    ? !claims.some(({ status }) => status === service.status)
    : claims.length === 0;
}

/** Paid: the service has it as pending, or a webhook saw the transfer begin. */
function isStuck(
  service: OrderState,
  ledger: OrderState | null,
  rules: ReconcileRules,
): boolean {
  const paid = service.status === "pending" ||
    (service.status === "progress" && (ledger?.transferSeen ?? false));
  return paid && ageMs(service, rules) >= rules.stuckAfterMs;
}

/**
 * Time since the last change in ms, between two times of the service's clock.
 */
export function ageMs(
  service: OrderState,
  { readAtMs }: ReconcileRules,
): number {
  const changedAt = service.changedAt ?? service.createdAt;
  return changedAt === null ? Infinity : readAtMs - Date.parse(changedAt);
}

import { isFinal, outcomeOf, withoutSettled } from "../../ledger/for_sync.ts";
import type { OrderState } from "../../ledger/mod.ts";
import {
  type BothSides,
  RECONCILE_FLAGS,
  type ReconcileFlag,
  type ReconcileRules,
} from "./reconcile_row.ts";

/**
 * Finds what a person should look at in one order: kinds of attention by the
 * table of outcomes, of what the service shows now, without what a person has
 * settled; that it is not what was asked for by the ledger, which knows what
 * was; and a webhook that is missing.
 *
 * @param sides Both sides.
 * @param rules How to compare.
 */
export function reconcileFlags(
  { service, ledger }: BothSides,
  rules: ReconcileRules,
): ReconcileFlag[] {
  if (service === null) return [];
  const { attention } = outcomeOf({
    ...service.facts,
    overdue: isOverdue(service, ledger, rules) ? "yes" : "no",
  });
  const found = new Set<string>(
    withoutSettled(attention, ledger?.byHand ?? null),
  );
  if (missedWebhook(service, ledger, rules)) found.add("missed_webhook");
  if (ledger?.attention.includes("not_as_requested")) {
    found.add("not_as_requested");
  }
  return RECONCILE_FLAGS.filter((flag) => found.has(flag));
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
function isOverdue(
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

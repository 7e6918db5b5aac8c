import type {
  ReconcileCategory,
  ReconcileFlag,
  ReconcileRow,
} from "./reconcile_row.ts";

/** All findings, the gravest first: money that is owed or may be lost, then
 * states that are not what the service says, then what is only slow. */
export const RECONCILE_SEVERITY: readonly (
  | ReconcileCategory
  | ReconcileFlag
)[] = [
  "refund_due",
  "final_changed",
  "sent_without_success",
  "cancelled_after_payment",
  "amount_mismatch",
  "not_as_requested",
  "contradictory_reading",
  "success_without_transaction",
  "stuck",
  "contradicted",
  "absent",
  "behind",
  "claimed_only",
  "missed_webhook",
  "agree",
];

/** Sorts rows by their gravest finding, then the oldest order first. */
export function bySeverity(a: ReconcileRow, b: ReconcileRow): number {
  return severity(a) - severity(b) ||
    compare(a.createdAt ?? "", b.createdAt ?? "") ||
    compare(a.orderId, b.orderId);
}

/** Place in the list; 0 is the gravest. */
function severity({ category, flags }: ReconcileRow): number {
  return Math.min(
    ...[category, ...flags].map((found) => RECONCILE_SEVERITY.indexOf(found)),
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

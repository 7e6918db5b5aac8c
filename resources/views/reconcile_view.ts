import type {
  ReconcileFinding,
  ReconcileReport,
  ReconcileRow,
  RecoverReport,
  UnprovenReason,
} from "../../sync/mod.ts";
import { describeFinding, unprovenJson } from "../wording/reconcile.ts";
import type { Worded } from "./order_view.ts";

/** One order as the service and the ledger have it, compared. */
export interface ReconcileRowJson extends ReconcileRow {
  readonly finding: Worded<ReconcileFinding>;
}

/** Service and ledger, compared over a window of creation time. */
export interface ReconcileJson extends Omit<ReconcileReport, "why"> {
  /** Why it is not proven to be all, in one sentence; null when it is. */
  readonly why: string | null;
  /** The same as a code with its data. */
  readonly reason: UnprovenReason | null;
  readonly rows: readonly ReconcileRowJson[];
}

/** A report as `--json` prints it: findings with their sentences. */
export function reconcileJson(report: ReconcileReport): ReconcileJson {
  const rows = report.rows.map((row) => ({
    ...row,
    finding: { ...row.finding, message: describeFinding(row) },
  }));
  return { ...report, ...unprovenJson(report.why), rows };
}

/**
 * What was read again after an outage, and whether that is proven to be all.
 */
export interface RecoverJson extends Omit<RecoverReport, "why"> {
  /** Why it is not proven to be all, in one sentence; null when it is. */
  readonly why: string | null;
  /** The same as a code with its data. */
  readonly reason: RecoverReport["why"];
}

/** What was read again, as `--json` prints it. */
export function recoverJson(report: RecoverReport): RecoverJson {
  return { ...report, ...unprovenJson(report.why) };
}

import type {
  ReconcileFinding,
  ReconcileReport,
  ReconcileRow,
} from "../../ledger/mod.ts";
import { describeFinding } from "../wording/reconcile_finding.ts";
import type { Worded } from "./order_view.ts";

/** The stable `--json` shape of `reconcile`; fields are only ever added. */
export interface ReconcileJson extends ReconcileReport {
  readonly rows: readonly (ReconcileRow & {
    readonly finding: Worded<ReconcileFinding>;
  })[];
}

/** A report as `--json` prints it: findings with their sentences. */
export function reconcileJson(report: ReconcileReport): ReconcileJson {
  const rows = report.rows.map((row) => ({
    ...row,
    finding: { ...row.finding, message: describeFinding(row) },
  }));
  return { ...report, rows };
}
